import '../stories/common.css';

export const globalTypes = { theme: { name: 'Theme', defaultValue: 'light' } };

export const decorators = [
  (story, { globals }) => {
    document.body.dataset.theme = globals.theme ?? 'light';
    return story();
  },
];

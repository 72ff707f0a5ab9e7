import type { Decorator, Preview } from '@storybook/react-vite';

import '../src/harbour.css';

const wearTheme: Decorator = (Story, { globals }) => {
  document.documentElement.dataset.theme = String(globals.theme);
  return <Story />;
};

const preview: Preview = {
  decorators: [wearTheme],
  globalTypes: {
    theme: { toolbar: { title: 'Theme', items: ['day', 'night'], dynamicTitle: true } },
  },
  initialGlobals: { theme: 'day' },
};

export default preview;

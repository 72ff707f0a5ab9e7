import type { Decorator, Preview } from '@storybook/react-vite';

import '../src/folio.css';

/** The theme is an attribute of the page, so that what is portalled to the body wears it too. */
const wearTheme: Decorator = (Story, { globals }) => {
  document.documentElement.dataset.theme = String(globals.theme);
  return <Story />;
};

const preview: Preview = {
  tags: ['autodocs'],
  decorators: [wearTheme],
  globalTypes: {
    theme: {
      description: 'Theme of the shop',
      toolbar: {
        title: 'Theme',
        icon: 'mirror',
        items: [
          { value: 'light', title: 'Paper' },
          { value: 'dark', title: 'Lamplight' },
        ],
        dynamicTitle: true,
      },
    },
  },
  initialGlobals: { theme: 'light' },
  parameters: {
    backgrounds: { disable: true },
    controls: { expanded: true },
    options: { storySort: { order: ['Welcome'] } },
  },
};

export default preview;

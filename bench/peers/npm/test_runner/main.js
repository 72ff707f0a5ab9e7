// What the runner wants to know of a Storybook, although it is given a built one by its URL.
export default {
  framework: '@storybook/react-vite',
  stories: ['./none.stories.js'],
  core: { disableTelemetry: true },
};

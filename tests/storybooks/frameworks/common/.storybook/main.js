/** One configuration for every framework and version; what differs comes from the environment. */
const framework = process.env.STORYBOOK_SHELF_FRAMEWORK;
const withDocs = process.env.STORYBOOK_SHELF_DOCS === '1';

const PLUGINS = {
  vue: async () => (await import('@vitejs/plugin-vue')).default(),
  svelte: async () => (await import('@sveltejs/vite-plugin-svelte')).svelte(),
};

/** The plugin that the framework's own preset has not brought: until 8 some bring theirs. */
const missingPlugin = async (brought) => {
  const name = Object.keys(PLUGINS).find((each) => framework.includes(`/${each}`));
  const plugins = (await Promise.all(brought.flat(Infinity))).flat(Infinity);
  const isThere = plugins.some((each) => each?.name?.startsWith(`vite-plugin-${name}`) || each?.name === `vite:${name}`);
  return name && !isThere ? PLUGINS[name]() : [];
};

export default {
  framework: { name: framework, options: {} },
  stories: ['../stories/*.stories.js', ...(withDocs ? ['../stories/*.mdx'] : [])],
  addons: [
    ...(withDocs ? ['@storybook/addon-docs'] : []),
    ...(framework.includes('webpack5') ? COMPILER() : []),
  ],
  core: { disableTelemetry: true, disableWhatsNewNotifications: true },
  typescript: { reactDocgen: false },
  viteFinal: async (config) => ({
    ...config,
    plugins: [await missingPlugin(config.plugins), ...config.plugins],
  }),
};

/** From 8 on a webpack build is told by what its sources are compiled. */
function COMPILER() {
  return process.env.STORYBOOK_SHELF_COMPILER ? [process.env.STORYBOOK_SHELF_COMPILER] : [];
}

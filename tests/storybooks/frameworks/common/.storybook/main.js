/** One configuration for every framework and version; what differs comes from the environment. */
const framework = process.env.STORYBOOK_SHELF_FRAMEWORK;
const withDocs = process.env.STORYBOOK_SHELF_DOCS === '1';

const PLUGINS = {
  vue: async () => (await import('@vitejs/plugin-vue')).default(),
  svelte: async () => (await import('@sveltejs/vite-plugin-svelte')).svelte(),
};

const pluginOf = () => Object.keys(PLUGINS).find((name) => framework.includes(`/${name}`));

export default {
  framework: { name: framework, options: {} },
  stories: ['../stories/*.stories.js', ...(withDocs ? ['../stories/*.mdx'] : [])],
  addons: [
    ...(withDocs ? ['@storybook/addon-docs'] : []),
    ...(framework.includes('webpack5') ? COMPILER() : []),
  ],
  core: { disableTelemetry: true, disableWhatsNewNotifications: true },
  viteFinal: async (config) => {
    const name = pluginOf();
    return name ? { ...config, plugins: [await PLUGINS[name](), ...config.plugins] } : config;
  },
};

/** From 8 on a webpack build is told by what its sources are compiled. */
function COMPILER() {
  return process.env.STORYBOOK_SHELF_COMPILER ? [process.env.STORYBOOK_SHELF_COMPILER] : [];
}

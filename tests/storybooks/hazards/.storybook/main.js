/** One file that cannot be loaded makes the preview's extract() fail for all: hence the switch. */
const unloadable = process.env.STORYBOOK_SHELF_UNLOADABLE === '1' ? ['../unloadable/*.stories.jsx'] : [];

export default {
  framework: '@storybook/react-vite',
  stories: ['../stories/*.stories.jsx', ...unloadable],
  staticDirs: ['../public'],
  core: { disableTelemetry: true, disableWhatsNewNotifications: true },
  features: { sidebarOnboardingChecklist: false },
  typescript: { reactDocgen: false },
};

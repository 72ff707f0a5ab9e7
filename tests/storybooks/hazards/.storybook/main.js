export default {
  framework: '@storybook/react-vite',
  stories: ['../stories/*.stories.jsx'],
  staticDirs: ['../public'],
  core: { disableTelemetry: true, disableWhatsNewNotifications: true },
  features: { sidebarOnboardingChecklist: false },
  typescript: { reactDocgen: false },
};

import type { StorybookConfig } from '@storybook/react-vite';

import { photographs } from './photographs';

/** What `python -m bench capture` shoots: stories of the kinds that products have. */
const config: StorybookConfig = {
  framework: '@storybook/react-vite',
  stories: ['../src/**/*.stories.tsx'],
  core: { disableTelemetry: true, disableWhatsNewNotifications: true },
  features: { sidebarOnboardingChecklist: false },
  typescript: { reactDocgen: false },
  viteFinal: (vite) => ({ ...vite, plugins: [...(vite.plugins ?? []), photographs()] }),
};

export default config;

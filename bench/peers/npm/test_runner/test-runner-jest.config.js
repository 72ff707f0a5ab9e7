import { fileURLToPath } from 'node:url';
import { getJestConfig } from '@storybook/test-runner';

const config = getJestConfig();
const environment = config.testEnvironmentOptions['jest-playwright'];

/** The runner's own, with the bench's browser and window, and a picture after each story. */
export default {
  ...config,
  setupFilesAfterEnv: [
    ...config.setupFilesAfterEnv,
    fileURLToPath(new URL('shoot.js', import.meta.url)),
  ],
  testEnvironmentOptions: {
    'jest-playwright': {
      ...environment,
      launchOptions: { executablePath: process.env.BENCH_BROWSER, args: ['--no-sandbox'] },
      contextOptions: { viewport: { width: 1280, height: 720 } },
    },
  },
};

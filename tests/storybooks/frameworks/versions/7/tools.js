import { expect, userEvent, within } from '@storybook/test';

export { expect, userEvent, within };

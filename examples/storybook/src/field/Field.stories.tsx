import type { Meta, StoryObj } from '@storybook/react-vite';
import { expect, userEvent, within } from 'storybook/test';

import { Field } from './Field';

const cardNumber = (text: string) =>
  /^\d{4}-\d{4}$/.test(text) ? undefined : 'A card number looks like 2041-7753.';

const meta = {
  title: 'Folio/Field',
  component: Field,
  args: { label: 'Reader’s card', placeholder: '0000-0000' },
} satisfies Meta<typeof Field>;

export default meta;
type Story = StoryObj<typeof meta>;

export const Empty: Story = {};

export const Filled: Story = { args: { defaultValue: '2041-7753' } };

export const WithHint: Story = { args: { hint: 'Eight digits, on the back of the card.' } };

export const Invalid: Story = {
  args: { defaultValue: '2041', check: cardNumber, touched: true },
};

export const Disabled: Story = { args: { defaultValue: '2041-7753', disabled: true } };

export const Multiline: Story = {
  args: {
    label: 'Why this book?',
    multiline: true,
    defaultValue: 'A friend read the first page aloud\nand would not say how it ends.',
  },
};

export const TypedByAReader: Story = {
  args: { check: cardNumber, success: 'Welcome back, Ada.' },
  play: async ({ canvasElement, step }) => {
    const canvas = within(canvasElement);
    const input = canvas.getByLabelText('Reader’s card');
    await step('a short number is refused when the field is left', async () => {
      await userEvent.type(input, '2041');
      await userEvent.tab();
      await expect(canvas.getByRole('status')).toHaveTextContent('looks like 2041-7753');
    });
    await step('the whole number is welcomed', async () => {
      await userEvent.type(input, '-7753');
      await userEvent.tab();
      await expect(canvas.getByRole('status')).toHaveTextContent('Welcome back, Ada.');
    });
  },
};

import type { Meta, StoryObj } from '@storybook/react-vite';
import { userEvent, within } from 'storybook/test';

import { Field } from './parts';

const meta = { title: 'Parts/Field', component: Field, args: { label: 'Name of the ship' } } satisfies Meta<typeof Field>;
export default meta;
type Story = StoryObj<typeof meta>;

export const Empty: Story = { args: { placeholder: 'Cormorant 12' } };
export const Filled: Story = { args: { defaultValue: 'Eider 3' } };
export const WithNote: Story = { args: { note: 'As it stands in the register.' } };
export const Wrong: Story = { args: { defaultValue: 'E', wrong: 'A name has three letters at least.' } };
export const Disabled: Story = { args: { defaultValue: 'Gannet 9', disabled: true } };
export const Typed: Story = {
  play: async ({ canvasElement }) => {
    await userEvent.type(within(canvasElement).getByRole('textbox'), 'Fulmar 4');
  },
};

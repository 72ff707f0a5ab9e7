import type { Meta, StoryObj } from '@storybook/react-vite';
import { fn } from 'storybook/test';

import { Field } from '../field/Field';
import { Dialog } from './Dialog';

const meta = {
  title: 'Folio/Dialog',
  component: Dialog,
  parameters: { docs: { story: { inline: false, height: '420px' } } },
  args: {
    title: 'Renew for three weeks?',
    confirm: 'Renew',
    children: <p>“The Salt Atlas” would then be due on 24 March. Nobody is waiting for it.</p>,
    onConfirm: fn(),
    onCancel: fn(),
  },
} satisfies Meta<typeof Dialog>;

export default meta;
type Story = StoryObj<typeof meta>;

export const Confirm: Story = {};

export const Danger: Story = {
  args: {
    title: 'Withdraw this copy?',
    confirm: 'Withdraw',
    tone: 'danger',
    children: <p>Two readers have reserved it. They are told, and move to the other copy.</p>,
  },
};

export const WithForm: Story = {
  args: {
    title: 'A note for the next reader',
    confirm: 'Leave the note',
    children: <Field label="Your note" multiline defaultValue="Chapter nine is worth the wait." />,
  },
};

export const LongContent: Story = {
  args: {
    title: 'Terms of the shelf',
    confirm: 'Agree',
    scrolls: true,
    children: Array.from({ length: 8 }, (_, clause) => (
      <p key={clause}>
        {clause + 1}. A book that is lent is a promise. It comes back dry, whole, and with the corners
        it left with; the story in it may be kept for ever.
      </p>
    )),
  },
};

export const ByLamplight: Story = { globals: { theme: 'dark' } };

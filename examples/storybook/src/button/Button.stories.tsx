import type { Meta, StoryObj } from '@storybook/react-vite';
import { fn } from 'storybook/test';

import { Button } from './Button';

const meta = {
  title: 'Folio/Button',
  component: Button,
  args: { children: 'Borrow this book', onClick: fn() },
} satisfies Meta<typeof Button>;

export default meta;
type Story = StoryObj<typeof meta>;

const bookmark = (
  <svg viewBox="0 0 16 16" fill="currentColor" aria-hidden="true">
    <path d="M4 1h8a1 1 0 0 1 1 1v13l-5-3.5L3 15V2a1 1 0 0 1 1-1z" />
  </svg>
);

export const Primary: Story = {};

export const Secondary: Story = { args: { kind: 'secondary', children: 'Renew' } };

export const Ghost: Story = { args: { kind: 'ghost', children: 'Read a sample' } };

export const Danger: Story = { args: { kind: 'danger', children: 'Withdraw from stock' } };

export const Disabled: Story = { args: { disabled: true } };

export const WithIcon: Story = { args: { icon: bookmark, children: 'Reserve' } };

export const Sizes: Story = {
  render: (args) => (
    <span className="button-row">
      <Button {...args} size="small" />
      <Button {...args} size="medium" />
      <Button {...args} size="large" />
    </span>
  ),
};

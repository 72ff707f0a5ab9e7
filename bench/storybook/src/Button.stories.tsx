import type { Meta, StoryObj } from '@storybook/react-vite';

import { Badge, Button } from './parts';

const meta = { title: 'Parts/Button', component: Button, args: { children: 'Book a berth' } } satisfies Meta<typeof Button>;
export default meta;
type Story = StoryObj<typeof meta>;

export const Main: Story = {};
export const Quiet: Story = { args: { kind: 'quiet' } };
export const Risky: Story = { args: { kind: 'risky', children: 'Cancel the voyage' } };
export const Disabled: Story = { args: { disabled: true } };
export const ByNight: Story = { globals: { theme: 'night' } };
export const Sizes: Story = {
  render: (args) => (
    <div className="row">
      <Button {...args} size="small" />
      <Button {...args} />
      <Button {...args} size="large" />
    </div>
  ),
};
export const Toolbar: Story = {
  render: () => (
    <div className="row panel">
      <Button size="small">Save</Button>
      <Button size="small" kind="quiet">Undo</Button>
      <Button size="small" kind="quiet">Redo</Button>
      <Badge tone="good">saved</Badge>
      <Badge tone="warn">2 notes</Badge>
      <Badge tone="bad">1 conflict</Badge>
    </div>
  ),
};

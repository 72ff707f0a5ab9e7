import type { Meta, StoryObj } from '@storybook/react-vite';

import { Badge } from './Badge';

const meta = {
  title: 'Folio/Badge',
  component: Badge,
  args: { children: 'On the shelf' },
} satisfies Meta<typeof Badge>;

export default meta;
type Story = StoryObj<typeof meta>;

export const Neutral: Story = {};

export const Positive: Story = { args: { tone: 'positive', children: 'Returned' } };

export const Warning: Story = { args: { tone: 'warning', children: 'Due tomorrow' } };

export const Critical: Story = { args: { tone: 'critical', children: 'Overdue' } };

export const WithCount: Story = { args: { tone: 'positive', children: 'Reserved', count: 3 } };

export const AllTones: Story = {
  render: () => (
    <span className="badge-row">
      <Badge>On the shelf</Badge>
      <Badge tone="positive">Returned</Badge>
      <Badge tone="warning">Due tomorrow</Badge>
      <Badge tone="critical" count={2}>
        Overdue
      </Badge>
    </span>
  ),
};

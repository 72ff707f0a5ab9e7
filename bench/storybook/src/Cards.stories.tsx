import type { Meta, StoryObj } from '@storybook/react-vite';

import { Badge, Button, Card } from './parts';

const meta = {
  title: 'Parts/Card',
  component: Card,
  args: { title: 'North quay', text: 'Six berths, deep water, and a crane that lifts forty tonnes.' },
} satisfies Meta<typeof Card>;
export default meta;
type Story = StoryObj<typeof meta>;

export const Plain: Story = {};
export const WithPhotograph: Story = { args: { photograph: 0 } };
export const Beside: Story = { args: { photograph: 1, flow: 'beside' } };
export const WithActions: Story = {
  args: { photograph: 2, children: <div className="row"><Button size="small">Book</Button><Badge tone="good">free</Badge></div> },
};
export const ByNight: Story = { args: { photograph: 3 }, globals: { theme: 'night' } };
export const Grid: Story = {
  render: (args) => <div className="grid">{[0, 1, 2, 3, 4, 5].map((each) => <Card key={each} {...args} photograph={each} />)}</div>,
};

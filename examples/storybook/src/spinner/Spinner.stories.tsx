import type { Meta, StoryObj } from '@storybook/react-vite';

import { Spinner } from './Spinner';

const meta = { title: 'Folio/Spinner', component: Spinner } satisfies Meta<typeof Spinner>;

export default meta;
type Story = StoryObj<typeof meta>;

export const Turning: Story = {};

export const WithLabel: Story = { args: { label: 'Looking along the shelves…' } };

export const Sizes: Story = {
  render: () => (
    <span className="spinner-row">
      {[18, 36, 54, 72].map((size) => (
        <Spinner key={size} size={size} />
      ))}
    </span>
  ),
};

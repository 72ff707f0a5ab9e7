import type { Meta, StoryObj } from '@storybook/react-vite';

import { Table } from './Table';

const meta = {
  title: 'Folio/Table',
  component: Table,
  args: {
    loans: [
      { title: 'The Salt Atlas', reader: 'Ada Ridley', due: '3 March', renewals: 0 },
      { title: 'Night Ferry', reader: 'Bo Castell', due: '4 March', renewals: 2 },
      { title: 'Patterns', reader: 'Cleo Marsh', due: '11 March', renewals: 1 },
      { title: 'Moss', reader: 'Dario Pine', due: '19 March', renewals: 3 },
    ],
  },
} satisfies Meta<typeof Table>;

export default meta;
type Story = StoryObj<typeof meta>;

const paintsOnePixel = import.meta.env.STORYBOOK_SHELF_PIXEL === '1';

/** With `STORYBOOK_SHELF_PIXEL=1` one pixel of the heading row is red. */
export const Loans: Story = {
  args: { children: paintsOnePixel ? <i className="table-mark" /> : undefined },
};

export const Dense: Story = { args: { density: 'dense' } };

export const Selected: Story = { args: { selected: ['Night Ferry', 'Moss'] } };

export const Sorted: Story = { args: { sort: { by: 'renewals', direction: 'descending' } } };

export const Empty: Story = { args: { loans: [] } };

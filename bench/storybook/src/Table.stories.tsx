import type { Meta, StoryObj } from '@storybook/react-vite';

import { type Berth, berths } from './freight';
import { Badge, type Tone } from './parts';

interface TableProps {
  rows: Berth[];
  dense?: boolean;
  selected?: number[];
}

const TONES: Record<Berth['state'], Tone> = { moored: 'good', due: 'plain', late: 'warn', held: 'bad' };

const Table = ({ rows, dense = false, selected = [] }: TableProps) => (
  <table data-dense={dense}>
    <thead><tr><th>Ship</th><th>Flag</th><th>Berth</th><th>Tonnes</th><th>State</th></tr></thead>
    <tbody>
      {rows.map((row, at) => (
        <tr key={at} aria-selected={selected.includes(at)}>
          <td>{row.ship}</td><td>{row.flag}</td><td>{row.berth}</td>
          <td className="number">{row.tonnes.toLocaleString('en-US')}</td>
          <td><Badge tone={TONES[row.state]}>{row.state}</Badge></td>
        </tr>
      ))}
      {rows.length === 0 && <tr><td colSpan={5} className="soft">No ship is expected.</td></tr>}
    </tbody>
  </table>
);

const meta = { title: 'Data/Table', component: Table, args: { rows: berths(8) } } satisfies Meta<typeof Table>;
export default meta;
type Story = StoryObj<typeof meta>;

export const Arrivals: Story = {};
export const Dense: Story = { args: { dense: true, rows: berths(24) } };
export const Selected: Story = { args: { selected: [1, 4, 5] } };
export const Empty: Story = { args: { rows: [] } };
export const ByNight: Story = { globals: { theme: 'night' } };
export const AllYear: Story = { args: { dense: true, rows: berths(180, 11) } };

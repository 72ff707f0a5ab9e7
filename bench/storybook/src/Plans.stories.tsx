import type { Meta, StoryObj } from '@storybook/react-vite';

import { berths } from './freight';
import { Badge, Panel } from './parts';

const meta = { title: 'Plans/All' } satisfies Meta;
export default meta;
type Story = StoryObj<typeof meta>;

export const Month: Story = {
  render: () => <div className="month">{Array.from({ length: 35 }, (_, day) => <div key={day}>{(day % 31) + 1}{day % 4 === 1 && <p><Badge>{berths(40)[day % 40]?.ship}</Badge></p>}</div>)}</div>,
};
export const Board: Story = {
  render: () => (
    <div className="board">{(['due', 'moored', 'late', 'held'] as const).map((state) => (
      <section key={state}><h3>{state}</h3><div className="stack">{berths(24).filter((row) => row.state === state).map((row, at) => <div key={at} className="panel">{row.ship}<br /><span className="soft">{row.flag}, {row.tonnes} t</span></div>)}</div></section>
    ))}</div>
  ),
};
export const Timeline: Story = {
  render: () => <ol className="stack">{berths(14).map((row, at) => <li key={at}><strong>{`${6 + at}:00`}</strong> {row.ship} to {row.berth} <Badge tone={row.state === 'late' ? 'warn' : 'good'}>{row.state}</Badge></li>)}</ol>,
};
export const Chart: Story = {
  render: () => (
    <svg width="900" height="560" viewBox="0 0 900 560" role="img">
      <rect width="900" height="560" fill="#bfe0e8" />
      {Array.from({ length: 14 }, (_, at) => <path key={at} d={`M0 ${40 + at * 38}q112-30 225 0t225 0 225 0 225 0`} fill="none" stroke="#0b6e8a" opacity="0.25" />)}
      <path d="M0 420C140 330 220 470 360 400S560 300 640 380 800 470 900 360V560H0z" fill="#dcd3b6" stroke="#8d815a" />
      {berths(18).map((row, at) => <g key={at} transform={`translate(${40 + ((at * 137) % 820)} ${40 + ((at * 71) % 300)})`}><circle r="7" fill="#b3261e" /><text x="11" y="5" fontSize="13">{row.ship}</text></g>)}
    </svg>
  ),
};
export const Waiting: Story = { render: () => <Panel title="One moment"><div className="turn" /></Panel> };
export const Loading: Story = { render: () => <div className="stack panel">{[90, 70, 80, 40].map((share) => <div key={share} className="bone" style={{ width: `${share}%` }} />)}</div> };
export const Progress: Story = { render: () => <div className="stack">{[12, 48, 77, 100].map((share) => <div key={share} className="meter"><i style={{ width: `${share}%` }} /></div>)}</div> };

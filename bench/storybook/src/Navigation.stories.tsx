import type { Meta, StoryObj } from '@storybook/react-vite';

import { Badge, Button } from './parts';

const meta = { title: 'Navigation/All' } satisfies Meta;
export default meta;
type Story = StoryObj<typeof meta>;

const PLACES = ['Arrivals', 'Berths', 'Pilots', 'Dues', 'Weather', 'Archive'];

const Bar = () => (
  <header className="bar">
    <strong>Harbour</strong>
    <nav>{PLACES.map((place, at) => <a key={place} href={`#${place}`} aria-current={at === 1 ? 'page' : undefined}>{place}</a>)}</nav>
    <Button size="small">New voyage</Button>
  </header>
);

const Side = () => (
  <nav className="side">
    {PLACES.map((place, at) => (
      <a key={place} href={`#${place}`} aria-current={at === 2 ? 'page' : undefined}>{place}<Badge>{at * 3}</Badge></a>
    ))}
  </nav>
);

export const TopBar: Story = { render: Bar };
export const TopBarByNight: Story = { render: Bar, globals: { theme: 'night' } };
export const SideBar: Story = { render: Side };
export const Tabs: Story = {
  render: () => <div className="tabs" role="tablist">{PLACES.map((place, at) => <button key={place} role="tab" aria-selected={at === 0}>{place}</button>)}</div>,
};
export const Crumbs: Story = {
  render: () => <nav className="row"><a href="#a">Harbour</a> / <a href="#b">Berths</a> / <span className="soft">North quay</span></nav>,
};
export const Pages: Story = {
  render: () => <nav className="row">{[1, 2, 3, 4, 5].map((page) => <Button key={page} size="small" kind={page === 2 ? 'main' : 'quiet'}>{page}</Button>)}</nav>,
};
export const Menu: Story = {
  render: () => <div className="panel stack" style={{ width: 220 }}>{['Rename', 'Copy', 'Move to…', 'Print'].map((word) => <span key={word}>{word}</span>)}<hr /><span style={{ color: 'var(--bad)' }}>Remove</span></div>,
};

import type { Meta, StoryObj } from '@storybook/react-vite';

const meta = { title: 'Foundations/Type and colour' } satisfies Meta;
export default meta;
type Story = StoryObj<typeof meta>;

const LINE = 'Sphinx of black quartz, judge my vow: 0123456789';

export const Headings: Story = { render: () => <div><h1>{LINE}</h1><h2>{LINE}</h2><h3>{LINE}</h3></div> };
export const Weights: Story = {
  render: () => <div>{[100, 300, 400, 500, 600, 700, 900].map((weight) => <p key={weight} style={{ fontWeight: weight, fontSize: 22 }}>{weight} {LINE}</p>)}</div>,
};
export const Handwriting: Story = { render: () => <p className="hand">{LINE}</p> };
export const Colours: Story = {
  render: () => <div className="grid">{['ground', 'face', 'ink', 'soft', 'line', 'sea', 'good', 'warn', 'bad'].map((name) => <div key={name} className="panel"><div style={{ height: 60, background: `var(--${name})` }} />{name}</div>)}</div>,
};
export const Shadows: Story = {
  render: () => <div className="grid">{[1, 2, 4, 8, 16].map((depth) => <div key={depth} className="panel" style={{ boxShadow: `0 ${depth}px ${depth * 3}px rgb(20 33 43 / 0.25)` }}>{depth}</div>)}</div>,
};

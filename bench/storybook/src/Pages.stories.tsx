import type { Meta, StoryObj } from '@storybook/react-vite';

import { BarChart, Donut, LineChart } from './charts';
import { berths, series } from './freight';
import { Badge, Button, Card, Panel } from './parts';

const meta = { title: 'Pages/Whole pages' } satisfies Meta;
export default meta;
type Story = StoryObj<typeof meta>;

const SENTENCE = 'The tide turned before the fog did, and the pilots waited at the buoy with their lamps lit. ';

const Article = ({ parts }: { parts: number }) => (
  <article className="prose">
    <h1>A winter on the north quay</h1>
    <p className="hand">notes from the harbour office</p>
    {Array.from({ length: parts }, (_, at) => (
      <section key={at}>
        <h2>Chapter {at + 1}</h2>
        <p>{SENTENCE.repeat(5)}</p>
        {at % 3 === 0 && <figure><img src={`photographs/${at % 6}.png`} alt="" /><figcaption className="soft">The quay at noon</figcaption></figure>}
        <blockquote>{SENTENCE}</blockquote>
        <p>{SENTENCE.repeat(4)}</p>
      </section>
    ))}
  </article>
);

const Dashboard = () => (
  <div className="stack">
    <div className="grid">
      {['Moored', 'Due', 'Late', 'Held'].map((state, at) => <Panel key={state} title={state}><span className="hand">{(at + 2) * 7}</span> <Badge tone="good">+{at}</Badge></Panel>)}
    </div>
    <Panel title="Tonnes a day"><LineChart lines={[series(120), series(120, 4)]} width={1100} /></Panel>
    <div className="row">
      <Panel title="By quay"><BarChart lines={[series(12)]} width={520} /></Panel>
      <Panel title="By flag"><Donut shares={[12, 9, 7, 3]} /></Panel>
    </div>
    <Panel title="Next arrivals"><ul>{berths(12).map((row, at) => <li key={at}>{row.ship}, {row.flag}, {row.berth}</li>)}</ul></Panel>
  </div>
);

export const ShortArticle: Story = { render: () => <Article parts={1} /> };
export const LongArticle: Story = { render: () => <Article parts={6} /> };
export const VeryLongArticle: Story = { render: () => <Article parts={14} /> };
export const Overview: Story = { render: Dashboard };
export const OverviewByNight: Story = { render: Dashboard, globals: { theme: 'night' } };
export const Prices: Story = {
  render: () => <div className="grid">{['Boat', 'Ship', 'Fleet'].map((name, at) => <Card key={name} title={name} text={`${(at + 1) * 120} a month`}><ul><li>{at + 1} berths</li><li>Pilot</li><li>Water</li></ul><Button>Choose</Button></Card>)}</div>,
};
export const NothingFound: Story = {
  render: () => <div className="panel" style={{ textAlign: 'center', padding: 80 }}><h2>Nothing here</h2><p className="soft">No ship of that name has been in.</p><Button>Back to arrivals</Button></div>,
};

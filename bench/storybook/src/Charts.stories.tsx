import type { Meta, StoryObj } from '@storybook/react-vite';

import { AreaChart, BarChart, Canvas, Donut, heat, LineChart, scatter } from './charts';
import { series } from './freight';
import { Panel } from './parts';

const meta = { title: 'Data/Charts' } satisfies Meta;
export default meta;
type Story = StoryObj<typeof meta>;

const week = [series(7, 2), series(7, 5)];
const year = [series(365, 2), series(365, 9), series(365, 12)];
const drawHeat = heat(series(24 * 31, 4), 31, 24);
const drawFine = heat(series(120 * 80, 6), 120, 8);
const drawDots = scatter(series(900, 8), 900, 420);

export const Lines: Story = { render: () => <LineChart lines={year} /> };
export const OneLine: Story = { render: () => <LineChart lines={[series(30)]} /> };
export const LinesByNight: Story = { render: () => <LineChart lines={year} />, globals: { theme: 'night' } };
export const Area: Story = { render: () => <AreaChart lines={[series(60)]} /> };
export const Bars: Story = { render: () => <BarChart lines={week} /> };
export const ManyBars: Story = { render: () => <BarChart lines={[series(90), series(90, 6)]} width={1100} /> };
export const Shares: Story = { render: () => <Donut shares={[34, 22, 18, 9, 4]} /> };
export const HeatOnCanvas: Story = { render: () => <Canvas width={744} height={576} draw={drawHeat} /> };
export const FineHeatOnCanvas: Story = { render: () => <Canvas width={960} height={640} draw={drawFine} /> };
export const DotsOnCanvas: Story = { render: () => <Canvas width={900} height={420} draw={drawDots} /> };
export const SmallMultiples: Story = {
  render: () => (
    <div className="grid">
      {Array.from({ length: 9 }, (_, at) => (
        <Panel key={at} title={`Quay ${at + 1}`}><LineChart lines={[series(40, at + 1)]} width={230} height={90} /></Panel>
      ))}
    </div>
  ),
};

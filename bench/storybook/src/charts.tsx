import { useLayoutEffect, useRef } from 'react';

const COLOURS = ['#0b6e8a', '#c06c1c', '#1f7a4d', '#7a3fa0', '#b3261e'];

export interface ChartProps {
  lines: number[][];
  width?: number;
  height?: number;
}

const axis = (height: number) => [0, 25, 50, 75, 100].map((mark) => ({ mark, y: height - (mark * height) / 100 }));

function Axis({ width, height }: { width: number; height: number }) {
  return axis(height).map(({ mark, y }) => (
    <g key={mark}>
      <line x1="32" x2={width} y1={y} y2={y} stroke="currentColor" opacity="0.15" />
      <text x="26" y={y + 4} textAnchor="end" fontSize="11" fill="currentColor" opacity="0.7">
        {mark}
      </text>
    </g>
  ));
}

export function LineChart({ lines, width = 720, height = 260 }: ChartProps) {
  const path = (values: number[]) =>
    values.map((value, at) => `${at ? 'L' : 'M'}${32 + (at * (width - 40)) / (values.length - 1)} ${height - (value * height) / 100}`).join('');
  return (
    <svg width={width} height={height + 8} viewBox={`0 -4 ${width} ${height + 8}`} role="img">
      <Axis width={width} height={height} />
      {lines.map((values, line) => (
        <path key={line} d={path(values)} fill="none" stroke={COLOURS[line % 5]} strokeWidth="2" />
      ))}
    </svg>
  );
}

export function AreaChart({ lines, width = 720, height = 260 }: ChartProps) {
  return (
    <svg width={width} height={height + 8} viewBox={`0 -4 ${width} ${height + 8}`} role="img">
      <defs>
        <linearGradient id="water" x2="0" y2="1">
          <stop offset="0" stopColor="#0b6e8a" stopOpacity="0.7" />
          <stop offset="1" stopColor="#0b6e8a" stopOpacity="0.05" />
        </linearGradient>
      </defs>
      <Axis width={width} height={height} />
      {lines.map((values, line) => {
        const points = values.map((value, at) => `${32 + (at * (width - 40)) / (values.length - 1)},${height - (value * height) / 100}`);
        return <polygon key={line} points={`32,${height} ${points.join(' ')} ${width - 8},${height}`} fill="url(#water)" stroke={COLOURS[line % 5]} />;
      })}
    </svg>
  );
}

export function BarChart({ lines, width = 720, height = 260 }: ChartProps) {
  const first = lines[0] ?? [];
  const room = (width - 40) / first.length;
  return (
    <svg width={width} height={height + 8} viewBox={`0 -4 ${width} ${height + 8}`} role="img">
      <Axis width={width} height={height} />
      {lines.flatMap((values, line) =>
        values.map((value, at) => (
          <rect
            key={`${line}-${at}`}
            x={36 + at * room + (line * (room - 6)) / lines.length}
            y={height - (value * height) / 100}
            width={(room - 6) / lines.length}
            height={(value * height) / 100}
            rx="2"
            fill={COLOURS[line % 5]}
          />
        )),
      )}
    </svg>
  );
}

export function Donut({ shares }: { shares: number[] }) {
  const whole = shares.reduce((sum, share) => sum + share, 0);
  let turned = 0;
  return (
    <svg width="260" height="260" viewBox="-50 -50 100 100" role="img">
      {shares.map((share, at) => {
        const from = turned;
        turned += (share / whole) * 2 * Math.PI;
        const end = (angle: number) => `${40 * Math.sin(angle)} ${-40 * Math.cos(angle)}`;
        const arc = `M${end(from)}A40 40 0 ${turned - from > Math.PI ? 1 : 0} 1 ${end(turned)}`;
        return <path key={at} d={arc} fill="none" stroke={COLOURS[at % 5]} strokeWidth="16" />;
      })}
      <text textAnchor="middle" y="4" fontSize="12" fill="currentColor">{whole} t</text>
    </svg>
  );
}

/** Draws once the element stands, at the device's scale. */
export function Canvas({ width, height, draw }: { width: number; height: number; draw: (brush: CanvasRenderingContext2D) => void }) {
  const element = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const brush = element.current?.getContext('2d');
    if (brush) draw(brush);
  }, [draw]);
  return <canvas ref={element} width={width} height={height} />;
}

export const heat = (values: number[], columns: number, cell: number) => (brush: CanvasRenderingContext2D) => {
  values.forEach((value, at) => {
    brush.fillStyle = `hsl(${220 - value * 2} 70% ${30 + value / 2.5}%)`;
    brush.fillRect((at % columns) * cell, Math.floor(at / columns) * cell, cell - 1, cell - 1);
  });
};

export const scatter = (values: number[], width: number, height: number) => (brush: CanvasRenderingContext2D) => {
  values.forEach((value, at) => {
    brush.globalAlpha = 0.55;
    brush.fillStyle = COLOURS[at % 5] ?? '#000';
    brush.beginPath();
    brush.arc((at * width) / values.length, height - (value * height) / 100, 3 + (at % 7), 0, 2 * Math.PI);
    brush.fill();
  });
};

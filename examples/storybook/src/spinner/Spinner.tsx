import type { CSSProperties } from 'react';

import './Spinner.css';

export interface SpinnerProps {
  /** Diameter in pixels. */
  size?: number;
  label?: string;
}

export function Spinner({ size = 36, label }: SpinnerProps) {
  return (
    <span className="spinner" role="status">
      <span className="spinner-ring" style={{ '--size': `${size}px` } as CSSProperties} />
      {label}
    </span>
  );
}

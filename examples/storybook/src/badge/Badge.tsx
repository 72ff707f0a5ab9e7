import type { ReactNode } from 'react';

import './Badge.css';

export type Tone = 'neutral' | 'positive' | 'warning' | 'critical';

export interface BadgeProps {
  tone?: Tone;
  children: ReactNode;
  count?: number;
}

const look = import.meta.env.STORYBOOK_SHELF_LOOK === 'next' ? 'next' : 'current';

/** A short word on the state of a book. The only component whose look can be switched. */
export function Badge({ tone = 'neutral', children, count }: BadgeProps) {
  return (
    <span className="badge" data-tone={tone} data-look={look}>
      {children}
      {count !== undefined && <span className="badge-count">{count}</span>}
    </span>
  );
}

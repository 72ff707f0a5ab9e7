import type { CSSProperties } from 'react';

import './Avatar.css';

export interface AvatarProps {
  name: string;
  /** Diameter in pixels. */
  size?: number;
  /** Draws a portrait instead of the initials. */
  portrait?: boolean;
  presence?: 'here' | 'away';
}

const initialsOf = (name: string) =>
  name
    .split(' ')
    .map((word) => word.charAt(0))
    .join('')
    .slice(0, 2)
    .toUpperCase();

/** The same name always has the same colour. */
const hueOf = (name: string) =>
  [...name].reduce((hue, letter) => (hue * 37 + (letter.codePointAt(0) ?? 0)) % 360, 7);

const Portrait = ({ hue }: { hue: number }) => (
  <svg viewBox="0 0 44 44" aria-hidden="true">
    <rect width="44" height="44" fill={`hsl(${hue} 48% 72%)`} />
    <path d="M6 46a16 16 0 0 1 32 0z" fill={`hsl(${(hue + 160) % 360} 38% 36%)`} />
    <circle cx="22" cy="19" r="8.5" fill="#f2c9a4" />
    <path d="M12.5 19a9.5 9.5 0 0 1 19 0c-3-4.5-7-5.500-9.5-5.5S15 16 12.5 19z" fill="#4a2f22" />
  </svg>
);

export function Avatar({ name, size = 44, portrait = false, presence }: AvatarProps) {
  const hue = hueOf(name);
  const style = { '--size': `${size}px`, '--hue': hue } as CSSProperties;
  return (
    <span className="avatar" role="img" aria-label={name} data-presence={presence} style={style}>
      {portrait ? <Portrait hue={hue} /> : initialsOf(name)}
    </span>
  );
}

export interface AvatarGroupProps {
  readers: string[];
  /** How many are shown before the rest is counted. */
  limit?: number;
}

export function AvatarGroup({ readers, limit = 4 }: AvatarGroupProps) {
  if (!Array.isArray(readers)) {
    throw new TypeError(`AvatarGroup needs a list of readers, but got ${String(readers)}`);
  }
  const rest = readers.length - limit;
  return (
    <span className="avatar-group">
      {readers.slice(0, limit).map((name) => (
        <Avatar key={name} name={name} />
      ))}
      {rest > 0 && <span className="avatar-rest">+{rest}</span>}
    </span>
  );
}

export interface CoverProps {
  /** Base colour of the cloth, in degrees. */
  hue: number;
  motif: 'waves' | 'moon' | 'tiles';
}

const Waves = ({ hue }: { hue: number }) =>
  [0, 1, 2, 3, 4].map((row) => (
    <path
      key={row}
      d={`M-10 ${104 + row * 20}q19-22 38 0t38 0 38 0 38 0v110H-10z`}
      fill={`hsl(${hue} 46% ${54 - row * 8}%)`}
    />
  ));

const Moon = ({ hue }: { hue: number }) => (
  <>
    <circle cx="84" cy="76" r="34" fill={"hsl(45 84% 84%)"} />
    <circle cx="70" cy="68" r="30" fill={`hsl(${hue} 42% 30%)`} />
    <path d="M0 150l34-34 26 24 32-40 40 46v50H0z" fill={`hsl(${hue} 44% 20%)`} />
  </>
);

const Tiles = ({ hue }: { hue: number }) =>
  Array.from({ length: 12 }, (_, tile) => (
    <path
      key={tile}
      transform={`translate(${(tile % 3) * 44} ${Math.floor(tile / 3) * 44 + 16}) rotate(${tile * 90} 22 22)`}
      d="M0 0h44A44 44 0 0 1 0 44z"
      fill={`hsl(${(hue + (tile % 4) * 14) % 360} 58% ${46 + (tile % 3) * 9}%)`}
    />
  ));

const MOTIFS = { waves: Waves, moon: Moon, tiles: Tiles };

/** Drawn, never fetched: a cover looks the same on every machine. */
export function Cover({ hue, motif }: CoverProps) {
  const Motif = MOTIFS[motif];
  return (
    <svg className="card-cover" viewBox="0 0 132 196" preserveAspectRatio="xMinYMid slice" aria-hidden="true">
      <rect width="132" height="196" fill={`hsl(${hue} 42% 30%)`} />
      <Motif hue={hue} />
      <rect x="12" y="16" width="64" height="5" rx="2.5" fill="#fff" opacity="0.9" />
      <rect x="12" y="27" width="42" height="5" rx="2.5" fill="#fff" opacity="0.6" />
    </svg>
  );
}

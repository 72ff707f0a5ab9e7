/** Numbers that look like a week's work and are the same in every build. */
export function drawn(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export interface Berth {
  ship: string;
  flag: string;
  berth: string;
  tonnes: number;
  state: 'moored' | 'due' | 'late' | 'held';
}

const NAMES = ['Aurora', 'Brisk', 'Cormorant', 'Dunlin', 'Eider', 'Fulmar', 'Gannet', 'Heron'];
const FLAGS = ['Norway', 'Panama', 'Malta', 'Liberia', 'Japan', 'Greece'];
const STATES = ['moored', 'due', 'late', 'held'] as const;

export function berths(count: number, seed = 7): Berth[] {
  const draw = drawn(seed);
  const pick = <T,>(from: readonly T[]) => from[Math.floor(draw() * from.length)] as T;
  return Array.from({ length: count }, (_, row) => ({
    ship: `${pick(NAMES)} ${1 + (row % 40)}`,
    flag: pick(FLAGS),
    berth: `${'ABCDEF'[row % 6]}${1 + Math.floor(draw() * 18)}`,
    tonnes: Math.round(900 + draw() * 88_000),
    state: pick(STATES),
  }));
}

export function series(length: number, seed = 3): number[] {
  const draw = drawn(seed);
  let level = 50;
  return Array.from({ length }, () => {
    level = Math.max(4, Math.min(96, level + (draw() - 0.48) * 18));
    return level;
  });
}

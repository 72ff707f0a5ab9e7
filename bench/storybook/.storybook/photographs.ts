import { crc32, deflateSync } from 'node:zlib';

const WIDTH = 960;
const HEIGHT = 640;
const COUNT = 6;

/** Adds `photographs/0.png` and so on to the build: large, noisy, and the same each time. */
export const photographs = () => ({
  name: 'photographs',
  apply: 'build' as const,
  generateBundle(this: { emitFile(file: object): void }) {
    for (let hue = 0; hue < COUNT; hue += 1) {
      this.emitFile({ type: 'asset', fileName: `photographs/${hue}.png`, source: developed(hue) });
    }
  },
});

/** A landscape in bands of light with grain, as the bytes of a PNG. */
function developed(hue: number): Buffer {
  const rows = Buffer.alloc(HEIGHT * (1 + WIDTH * 3));
  let grain = hue + 1;
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) {
      grain = (Math.imul(grain, 1664525) + 1013904223) >>> 0;
      const hill = HEIGHT * (0.55 + 0.12 * Math.sin(x / 120 + hue) + 0.05 * Math.sin(x / 37));
      const light = (y < hill ? 210 - y / 5 : 120 - (y - hill) / 6) + (grain >>> 29);
      const at = y * (1 + WIDTH * 3) + 1 + x * 3;
      rows[at] = light * (0.7 + 0.05 * hue);
      rows[at + 1] = light * (0.8 - 0.03 * hue);
      rows[at + 2] = y < hill ? light : light * 0.6;
    }
  }
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  const chunks = [chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND')];
  return Buffer.concat([signature, ...chunks]);
}

function chunk(kind: string, content = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(kind, 'latin1'), content]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(content.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

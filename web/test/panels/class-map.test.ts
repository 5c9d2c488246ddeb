import assert from "node:assert/strict";
import { test } from "node:test";
import { Axes } from "../../src/drawing/axes";
import type { Pen } from "../../src/drawing/pen";
import type { Pixels } from "../../src/drawing/pixels";
import { contrast, hex } from "../../src/model/colour-space";
import { Palette } from "../../src/model/palette";
import { ClassMapImage } from "../../src/panels/class-map";
import type { Frame } from "../../src/panels/painter";

const SIZE = 40; // pixels
const CELLS = 10;
const EXTENT = { x0: -1, x1: 1, y0: -1, y1: 1 };

/** Three classes, the first left of x = a y, the second right of it, the third nowhere. */
function painted(slope: number, steep: number): Pixels {
  const logits = new Float32Array(3 * CELLS * CELLS);
  for (let i = 0; i < CELLS * CELLS; i++) {
    const [x, y] = [i % CELLS, Math.floor(i / CELLS)].map((k) => (2 * (k + 0.5)) / CELLS - 1);
    logits[3 * i + 1] = steep * (x! - slope * y!);
    logits[3 * i + 2] = -1e3;
  }
  let found: Pixels | null = null;
  const pen = { image: (pixels: Pixels) => (found = pixels) } as unknown as Pen;
  const axes = new Axes(EXTENT, { x: 0, y: 0, width: SIZE, height: SIZE });
  const map = { logits, width: CELLS, height: CELLS, classes: 3, extent: EXTENT };
  const frame = { ratio: 1, palette: new Palette("light"), scene: {} } as unknown as Frame;
  new ClassMapImage().draw(pen, axes, map as never, frame);
  return found!;
}

const colour = (word: number): string =>
  hex([word & 255, (word >> 8) & 255, (word >> 16) & 255] as const);

test("a line parts the likeliest classes, and nothing else is darkened", () => {
  for (const slope of [0, 0.5, -0.3]) {
    const { words, width, height } = painted(slope, 1e3);
    assert.deepEqual([width, height], [SIZE, SIZE]);
    const [left, right] = [0, 1].map((c) => hex(new Palette("light").map(c)));
    for (let row = 4; row < SIZE - 4; row++) {
      const y = 1 - (2 * (row + 0.5)) / SIZE;
      const middle = ((slope * y + 1) * SIZE) / 2; // where the classes meet
      let dark = 0;
      for (let column = 4; column < SIZE - 4; column++) {
        const found = colour(words[row * SIZE + column]!);
        const far = column + 0.5 - middle;
        if (Math.abs(far) > 2) assert.equal(found, far < 0 ? left : right);
        else if (Math.min(contrast(found, left!), contrast(found, right!)) > 1.2) dark++;
      }
      assert.ok(dark >= 1 && dark <= 3, `slope ${slope}, row ${row}: ${dark} dark pixels`);
    }
  }
});

test("a class whose numbers overflowed leads nowhere", () => {
  const { words } = painted(0, NaN);
  assert.equal(new Set(words).size, 1);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast, rgb } from "../../src/model/colour-space";
import { Palette, TEXT_CONTRAST } from "../../src/model/palette";
import { chooseSequences } from "../../src/model/sequences";
import { attentionShades } from "../../src/panels/attention";
import { rowGrid, columnLeft, cellAt, SequenceRows } from "../../src/panels/sequence-rows";
import { modularAddition, tasks } from "../tasks";

const sequences = chooseSequences(tasks, modularAddition(2, 12, [0, 1, 2, 3, 4]));
const SMALL = { x: 10, y: 6, width: 200, height: 165 };
const LARGE = { x: 10, y: 6, width: 1124, height: 616 };

test("a small panel has one column of rows, a large one shows all, higher ones, side by side", () => {
  const small = rowGrid(SMALL, 144, 12, false);
  assert.deepEqual([small.columns, small.count, small.down], [1, 19, 19]);
  const large = rowGrid(LARGE, 144, 12, true);
  assert.ok(large.count === 144 && large.columns > 1 && large.height > 14 && large.width >= 15);
  const few = rowGrid(LARGE, 5, 12, true);
  assert.deepEqual([few.columns, few.count, few.down], [1, 5, 5]);
  const most = rowGrid(LARGE, 5000, 30, true); // there is never room for so many
  assert.ok(most.count < 5000 && most.height >= 8.4 && most.columns * most.down >= most.count);
});

test("every cell is found where it is, and nothing between columns of rows", () => {
  for (const [box, wide] of [
    [SMALL, false],
    [LARGE, true],
  ] as const) {
    const grid = rowGrid(box, 143, 12, wide);
    for (let place = 0; place < grid.count; place++)
      for (const cell of [0, 5, 11]) {
        const column = Math.floor(place / grid.down);
        const x = columnLeft(grid, column) + (cell + 0.5) * grid.width;
        const y = box.y + ((place % grid.down) + 0.5) * grid.height;
        assert.deepEqual(cellAt(grid, 12, x, y), [place, cell]);
      }
    assert.deepEqual(cellAt(grid, 12, box.x + 1, box.y + box.height + 5), [-1, 0]);
    assert.equal(cellAt(grid, 12, box.x - 1, box.y + 5), null);
    assert.equal(cellAt(grid, 12, box.x + box.width + 1, box.y + 5), null);
    if (grid.columns > 1) assert.equal(cellAt(grid, 12, columnLeft(grid, 1) - 5, box.y + 5), null);
  }
});

test("a marked sequence always has a row, at its place in the order, and only while it is marked", () => {
  const rows = new SequenceRows(sequences, 19);
  const usual = Array.from(rows.shown);
  assert.equal(new Set(usual).size, 19);
  for (let i = 0; i < sequences.count; i++) {
    const place = rows.show(i);
    assert.equal(rows.shown[place], i);
    const others = Array.from(rows.shown).filter((_, at) => at !== place);
    assert.deepEqual(
      others,
      usual.filter((_, at) => at !== place),
    );
    const groups = Array.from(rows.shown, (row) => sequences.group[row]!);
    assert.deepEqual(
      groups,
      [...groups].sort((a, b) => a - b),
    );
  }
  assert.equal(rows.show(usual[7]!), 7);
  assert.equal(rows.show(-1), -1);
  assert.deepEqual(Array.from(rows.shown), usual);
});

for (const theme of ["light", "dark"] as const) {
  const palette = new Palette(theme);

  test(`${theme}: tokens can be read on every shade of attention`, () => {
    for (const { fill, ink } of attentionShades(palette))
      assert.ok(contrast(fill, ink) >= TEXT_CONTRAST, `${ink} on ${fill}`);
  });

  test(`${theme}: what is faded is far from what is not, in few colours`, () => {
    const far = (a: string, b: string): number =>
      Math.hypot(...rgb(a).map((part, i) => part - rgb(b)[i]!));
    const fills = Array.from({ length: 256 }, (_, unit) => palette.receptor(unit));
    const { panel } = palette.colours;
    for (const style of fills) {
      const { fill, marker } = palette.faded(style);
      assert.equal(marker, style.marker);
      assert.ok(far(fill, panel) < 0.4 * far(style.fill, panel), `${style.fill} to ${fill}`);
      assert.notEqual(fill, panel);
    }
    assert.ok(new Set(fills.map((style) => palette.faded(style).fill)).size < 64);
  });
}

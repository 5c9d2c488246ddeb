import assert from "node:assert/strict";
import { test } from "node:test";
import type { Box } from "../../src/drawing/axes";
import { readableSize, stageLayout, type StageLayout } from "../../src/stage/stage-layout";

const WIDTHS = [390, 640, 800, 1280, 1920, 2560, 3840];
const HEIGHTS = [360, 720, 844, 1080, 2160];
const HALVES = [[1], [4], [6], [19], [20], [6, 6], [20, 20], [19, 20], [1, 1]];
const ROUNDING = 1e-6;

/** What may not lie over each other, by name. */
function boxesOf(layout: StageLayout): [string, Box][] {
  return [
    ["head", layout.head],
    ["told", layout.told],
    ["track", layout.track],
    ...layout.halves.flatMap(({ title, panels }, i): [string, Box][] => [
      ...(title ? ([[`title ${i}`, title]] as [string, Box][]) : []),
      ...panels.map(({ frame }, j): [string, Box] => [`panel ${i}.${j}`, frame]),
    ]),
  ];
}

const meet = (a: Box, b: Box): boolean =>
  a.x + a.width > b.x + ROUNDING &&
  b.x + b.width > a.x + ROUNDING &&
  a.y + a.height > b.y + ROUNDING &&
  b.y + b.height > a.y + ROUNDING;

const inside = (a: Box, b: Box): boolean =>
  a.x >= b.x - ROUNDING &&
  a.y >= b.y - ROUNDING &&
  a.x + a.width <= b.x + b.width + ROUNDING &&
  a.y + a.height <= b.y + b.height + ROUNDING;

for (const presenting of [false, true])
  test(`at every size all is there and nothing lies over anything else (${presenting})`, () => {
    for (const width of WIDTHS)
      for (const height of HEIGHTS)
        for (const halves of HALVES) {
          const about = `${width}x${height}, ${halves}`;
          const layout = stageLayout(width, height, { halves, presenting });
          const boxes = boxesOf(layout);
          const whole = { x: 0, y: 0, width, height };
          assert.deepEqual(
            layout.halves.map(({ panels }) => panels.length),
            halves,
          );
          for (const [name, box] of boxes) assert.ok(inside(box, whole), `${about}: ${name}`);
          for (const [i, [one, a]] of boxes.entries())
            for (const [other, b] of boxes.slice(i + 1))
              assert.ok(!meet(a, b), `${about}: ${one} and ${other}`);
          for (const { frame, title, picture } of layout.halves.flatMap(({ panels }) => panels)) {
            assert.ok(inside(title, frame) && inside(picture, frame), about);
            assert.ok(picture.width >= 4 && picture.height >= 4, about);
            assert.ok(!meet(title, picture), about);
          }
        }
  });

test("a panel's picture is large enough to be read on a usual film", () => {
  for (const halves of [[20], [6, 6], [4]]) {
    const { panels } = stageLayout(1280, 720, { halves, presenting: false }).halves[0]!;
    for (const { picture, frame } of panels) {
      assert.ok(inside(picture, frame));
      assert.ok(picture.width >= 150 && picture.height >= 120, `${halves}`);
    }
  }
});

test("where panels are many, letters are smaller, and pictures large enough as far as can be", () => {
  for (const halves of HALVES)
    for (const [width, height, ratio] of [
      [1280, 720, 1],
      [1280, 720, 1.5],
      [800, 600, 2],
      [390, 844, 2],
      [1920, 1080, 3],
    ] as const) {
      const contents = { halves, presenting: false };
      const found = readableSize({ width, height, ratio }, contents);
      assert.equal(Math.round(found.width * found.ratio), width * ratio);
      assert.equal(Math.round(found.height * found.ratio), height * ratio);
      assert.ok(found.ratio >= 1 && found.ratio <= ratio);
      const { panels } = stageLayout(found.width, found.height, contents).halves[0]!;
      const small = panels.some(({ picture: p }) => p.width < 150 || p.height < 110);
      assert.ok(!small || found.ratio < 1.06, `${halves}, ${width}x${height}`);
      if (found.ratio < ratio) {
        const before = stageLayout(width, height, contents).halves[0]!.panels;
        assert.ok(before.some(({ picture: p }) => p.width < 150 || p.height < 110));
      }
    }
});

test("two runs stand beside each other, or one above the other where there is more room so", () => {
  const [left, right] = stageLayout(1280, 720, { halves: [6, 6], presenting: false }).halves;
  assert.ok(left!.title && right!.title && right!.title.x > left!.title.x + left!.title.width);
  const [above, below] = stageLayout(390, 844, { halves: [6, 6], presenting: false }).halves;
  assert.ok(below!.title!.y > above!.title!.y && below!.title!.x === above!.title!.x);
});

test("letters are larger in a presentation", () => {
  const of = (presenting: boolean) => stageLayout(1280, 720, { halves: [4], presenting }).type;
  assert.ok(of(true) > of(false));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { Placer, type Label, type Placed } from "../../src/drawing/labels";
import { Palette } from "../../src/model/palette";
import { chooseSequences } from "../../src/model/sequences";
import { nameBeside, namesOfGroups } from "../../src/panels/point-names";
import { modularAddition, tasks } from "../tasks";

// Without a canvas to measure with, a text of size 10 is 6 wide for each letter.
Object.assign(globalThis, { document: { createElement: () => ({ getContext: () => null }) } });
const BOUNDS = { x0: 0, x1: 200, y0: 0, y1: 100 };
const at = (id: number, x: number, y: number): Label => nameBeside([id, `name${id}`], x, y, 4);
const width = (label: Placed): number => 6 * label.text.length;

test("a name stands at the right, and at the left where the panel ends", () => {
  const [middle, edge] = new Placer().place([at(0, 50, 50), at(1, 190, 20)], BOUNDS, []);
  assert.ok(middle!.left > 50 && middle!.left < 60);
  assert.ok(edge!.left + width(edge!) < 190);
});

test("names avoid each other, points and being read as another's", () => {
  const labels = Array.from({ length: 30 }, (_, i) =>
    at(i, 20 + ((i * 53) % 160), 10 + ((i * 31) % 80)),
  );
  const dots = labels.map(({ reach }) => reach);
  const placed = new Placer().place(labels, BOUNDS, dots);
  assert.ok(placed.length > 5 && placed.length < 30, `${placed.length} of 30`);
  for (const label of placed) {
    const [x0, x1] = [label.left, label.left + width(label)];
    const [y0, y1] = [label.middle - 5, label.middle + 5];
    const far = (x: number, y: number): number =>
      Math.hypot(Math.max(x0 - x, 0, x - x1), Math.max(y0 - y, 0, y - y1));
    for (const other of labels)
      assert.ok(far(label.x, label.y) <= far(other.x, other.y) + 2, `${label.text}, ${other.text}`);
    for (const dot of dots)
      assert.ok(x1 <= dot.x0 || x0 >= dot.x1 || y1 <= dot.y0 || y0 >= dot.y1, label.text);
    for (const other of placed)
      assert.ok(
        other === label ||
          Math.abs(other.middle - label.middle) >= 10 ||
          other.left >= x1 ||
          other.left + width(other) <= x0,
      );
  }
});

test("a name keeps its side while that is free", () => {
  const placer = new Placer();
  const [first] = placer.place([at(0, 190, 50)], BOUNDS, []); // pushed to the left
  const [second] = placer.place([at(0, 100, 50)], BOUNDS, []); // free on both sides
  assert.ok(first!.left < 190 && second!.left < 100);
  const inTheWay = [{ x0: 60, x1: 96, y0: 40, y1: 60 }];
  const [third] = placer.place([at(0, 100, 50)], BOUNDS, inTheWay);
  assert.ok(third!.left > 100);
});

test("a name of many points stands beside them, but not far from their middle", () => {
  const near = nameBeside([0, "a"], 50, 50, 4, { x0: 45, x1: 60, y0: 50, y1: 50 });
  assert.deepEqual(near.reach, { x0: 41, x1: 64, y0: 46, y1: 54 });
  const wide = nameBeside([0, "a"], 50, 50, 4, { x0: 0, x1: 150, y0: 50, y1: 50 });
  assert.deepEqual(wide.reach, { x0: 32, x1: 68, y0: 46, y1: 54 });
});

test("a multiset has a name where its points are together, not where they are spread", () => {
  const sequences = chooseSequences(tasks, modularAddition(2, 12, [0, 1, 2, 3, 4]));
  const { count, group, groupNames } = sequences;
  const palette = new Palette("light");
  const size = { width: 200, height: 150 };
  const named = (at: (i: number, g: number) => readonly [number, number]): string[] => {
    const places = Array.from({ length: count }, (_, i) => at(i, group[i]!));
    const [xs, ys] = [0, 1].map((axis) => Float64Array.from(places, (each) => each[axis]!));
    return namesOfGroups(sequences, { xs: xs!, ys: ys! }, 4, palette, size).map(({ text }) => text);
  };
  const together = (i: number, g: number) => [20 + 30 * g + (i % 5), 50 + (i % 7)] as const;
  assert.deepEqual(named(together), groupNames);
  const but = (g: number): string[] => groupNames.filter((_, other) => other !== g);
  const ring = (i: number) => [100 + 60 * Math.cos(i), 70 + 60 * Math.sin(i)] as const;
  assert.deepEqual(
    named((i, g) => (g === 2 ? ring(i) : together(i, g))),
    but(2),
  );
  let n = 0; // two clusters whose middle is empty
  const parted = () => [n++ % 2 ? 40 : 92, 50] as const;
  assert.deepEqual(
    named((i, g) => (g === 3 ? parted() : together(i, g))),
    but(3),
  );
  const first = group.indexOf(2);
  const stray = (i: number, g: number) => (i === first ? ([190, 140] as const) : together(i, g));
  assert.deepEqual(named(stray), groupNames);
  assert.deepEqual(
    named((i, g) => (i === first ? [NaN, Infinity] : together(i, g))),
    groupNames,
  );
});

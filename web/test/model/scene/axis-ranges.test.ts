import assert from "node:assert/strict";
import { test } from "node:test";
import {
  movedTowards,
  framed,
  include,
  includeCircle,
  isEmpty,
  NOTHING,
  overRun,
  sampledEpochs,
  settled,
} from "../../../src/model/scene/axis-ranges";
import { tickLabels, ticks } from "../../../src/model/ticks";
import type { Extent } from "../../../src/model/types";

const box = (x0: number, x1: number, y0: number, y1: number): Extent => ({ x0, x1, y0, y1 });
const width = (e: Extent): number => e.x1 - e.x0;
const height = (e: Extent): number => e.y1 - e.y0;

test("points widen an extent, what is not finite does not", () => {
  const points = {
    x: Float64Array.of(1, NaN, 3, 9),
    y: Float64Array.of(2, 5, -1, Infinity),
    count: 4,
  };
  assert.deepEqual(include({ ...NOTHING }, points), box(1, 3, -1, 2));
  assert.ok(
    isEmpty(include({ ...NOTHING }, { x: Float64Array.of(NaN), y: Float64Array.of(1), count: 1 })),
  );
  assert.deepEqual(includeCircle(box(1, 3, -1, 2), 1.5), box(-1.5, 3, -1.5, 2));
});

test("sampled epochs: the ends, evenly, none twice", () => {
  const kept = Int32Array.from({ length: 1001 }, (_, i) => i);
  const some = sampledEpochs(kept);
  assert.equal(some.length, 64);
  assert.equal(some[0], 0);
  assert.equal(some[63], 1000);
  assert.equal(new Set(some).size, 64);
  assert.deepEqual(sampledEpochs([0, 10, 20]), [0, 10, 20]);
  assert.deepEqual(sampledEpochs([7]), [7]);
  assert.deepEqual(sampledEpochs([]), []);
});

test("growth is kept whole, a blow-up is not", () => {
  const growing = Array.from({ length: 64 }, (_, i) => box(-1 - i / 10, 1 + i / 10, -1, 1));
  const whole = overRun(growing);
  assert.ok(whole.x1 >= 7.29 && whole.x1 <= 7.31, String(whole.x1));
  const blown = [...growing, box(-1e30, 1e30, -1e9, 5)];
  assert.ok(overRun(blown).x1 < 15 && overRun(blown).y0 > -3);
  assert.deepEqual(overRun([]), box(-1, 1, -1, 1));
  assert.deepEqual(overRun([{ ...NOTHING }, box(0, 1, 0, 2)]), box(0, 1, 0, 2));
});

test("frames hold their extent at equal units", () => {
  for (const aspect of [0.5, 1, 1.7])
    for (const extent of [
      box(0, 1, 0, 10),
      box(-5, 5, 0, 0),
      box(3, 3, 3, 3),
      box(0, 0, 0, 0),
      { ...NOTHING },
    ]) {
      const frame = framed(extent, aspect);
      assert.ok(Math.abs(width(frame) / height(frame) - aspect) < 1e-9);
      assert.ok(width(frame) > 0);
      if (!isEmpty(extent))
        assert.ok(
          frame.x0 < extent.x0 &&
            frame.x1 > extent.x1 &&
            frame.y0 < extent.y0 &&
            frame.y1 > extent.y1,
        );
    }
});

test("following arrives, never overshoots, never jumps", () => {
  const cases: [Extent, Extent][] = [
    [box(-1, 1, -1, 1), box(-1000, 1000, -1000, 1000)],
    [box(-1000, 1000, -1000, 1000), box(2, 3, 2, 3)],
    [box(0, 1, 0, 1), box(0.5, 1.5, 0, 1)],
  ];
  for (const [from, to] of cases) {
    let now = movedTowards(null, from, 16);
    let frames = 0;
    for (; frames < 500 && now.x1 !== to.x1; frames++) {
      const next = movedTowards(now, to, 16);
      const zoom = width(next) / width(now);
      assert.ok(zoom < 2 && zoom > 0.5, `zoom ${zoom}`);
      for (const side of ["x0", "x1", "y0", "y1"] as const)
        assert.ok((next[side] - from[side]) * (to[side] - next[side]) >= 0, "between the two");
      now = next;
    }
    assert.deepEqual(now, to);
    assert.ok(frames > 20 && frames < 250, `${frames} frames`);
  }
  const half = movedTowards(movedTowards(box(0, 1, 0, 1), box(1, 2, 0, 1), 8), box(1, 2, 0, 1), 8);
  const once = movedTowards(box(0, 1, 0, 1), box(1, 2, 0, 1), 16);
  assert.ok(Math.abs(half.x0 - once.x0) < 1e-12, "the frame rate does not matter");
});

test("a followed axis rests while the points fill it well", () => {
  const held = settled(null, box(0, 10, 0, 10));
  assert.deepEqual(held, framed(box(0, 10, 0, 10)));
  for (const still of [box(0, 10, 0, 10), box(1, 9, 2, 9), box(-0.5, 6, 0, 5)])
    assert.equal(settled(held, still), held);
  for (const moved of [box(0, 12, 0, 10), box(-2, 3, 0, 10), box(4, 6, 4, 6)]) {
    const next = settled(held, moved);
    assert.notEqual(next, held);
    assert.ok(next.x0 < moved.x0 && next.x1 > moved.x1 && next.y0 < moved.y0 && next.y1 > moved.y1);
    assert.equal(settled(next, moved), next, "and rests there");
  }
  assert.equal(settled(held, { ...NOTHING }), held, "nothing finite moves nothing");
  assert.notEqual(settled(held, box(0, 10, 0, 10), 2), held, "a panel of another shape");
});

const TICKS: [number, number, number[], string[]][] = [
  [-2.3, 2.3, [-2, -1, 0, 1, 2], ["−2", "−1", "0", "1", "2"]],
  [0, 0.21, [0, 0.05, 0.1, 0.15, 0.2], ["0.00", "0.05", "0.10", "0.15", "0.20"]],
  [-5e6, 5e6, [-4e6, -2e6, 0, 2e6, 4e6], ["−4e6", "−2e6", "0", "2e6", "4e6"]],
  [1e5, 3e5, [1e5, 1.5e5, 2e5, 2.5e5, 3e5], ["1e5", "1.5e5", "2e5", "2.5e5", "3e5"]],
  [-1e-6, 1e-6, [-1e-6, -5e-7, 0, 5e-7, 1e-6], ["−1e−6", "−5e−7", "0", "5e−7", "1e−6"]],
  [9, 11, [9, 9.5, 10, 10.5, 11], ["9.0", "9.5", "10.0", "10.5", "11.0"]],
  [0, 0, [], []],
  [0, Infinity, [], []],
  [1e16, 1e16 + 4, [], []],
];
for (const [from, to, values, labels] of TICKS)
  test(`ticks from ${from} to ${to}`, () => {
    assert.deepEqual(ticks(from, to), values);
    assert.deepEqual(tickLabels(values), labels);
  });

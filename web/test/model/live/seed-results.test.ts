// What came of many seeds; that they are trained with Python's bits is tests/kernel/wasm/test_seeds_wasm.py.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  LARGEST_SEED,
  readSeed,
  readSeedCount,
  workersFor,
} from "../../../src/model/live/seed-plan";
import {
  countSeeds,
  countsInWords,
  lossPowers,
  orderedSeeds,
  outcomeText,
  seedResult,
  timeLeft,
  type SeedChoice,
  type SeedOrder,
} from "../../../src/model/live/seed-results";
import type { SeedReport } from "../../../src/model/live/seed-run";
import { MOST_POINTS, pointEpoch, ThinCurve } from "../../../src/model/live/thin-curve";
import { THRESHOLDS } from "../../../src/model/thresholds";

const EPOCHS = 100;
const curves = { loss: new Float32Array(), accuracy: new Float32Array() };

function reported(seed: number, part: Partial<SeedReport>): SeedReport {
  const over = { epoch: EPOCHS, over: true, diverged: null };
  return { seed, ...over, loss: 0.7, accuracy: 0.5, above: null, curves, ...part };
}

const result = (seed: number, part: Partial<SeedReport> | null, working = true) =>
  seedResult(seed, part && reported(seed, part), EPOCHS, working);

const RESULTS = [
  result(0, { accuracy: 0.5, loss: 0.69, above: 40 }),
  result(1, { accuracy: 1, loss: 0.01, above: 60 }),
  result(2, { accuracy: NaN, loss: NaN, epoch: 7, diverged: 7 }),
  result(3, { over: false, epoch: 30 }),
  result(4, null),
  result(5, { accuracy: 0.95, loss: 0.2, above: 20 }),
  result(6, { over: false, epoch: 12 }, false),
  result(10, { accuracy: 0.4, loss: 0.3 }),
];

test("what came of a seed is Python's rule: the test accuracy at the end", () => {
  assert.deepEqual(RESULTS.map(outcomeText), [
    ...["not solved", "solved at 60", "diverged at 7", "epoch 30", "waiting"],
    ...["solved at 20", "stopped at 12", "not solved"],
  ]);
  const { solved_accuracy: just } = THRESHOLDS;
  const single = Math.fround(just); // the float32 next to it, which is above
  assert.equal(result(0, { accuracy: just, above: 1 }).outcome, "not solved");
  assert.equal(
    result(0, { accuracy: single, above: 1 }).outcome,
    single > just ? "solved" : "not solved",
  );
  const early = { accuracy: 1, epoch: 99, above: 3 };
  assert.equal(result(0, { ...early, diverged: 99 }).outcome, "diverged");
  assert.equal(result(0, { ...early, over: false }).outcome, "training");
});

test("seeds are sorted and chosen", () => {
  const seeds = (order: SeedOrder, choice: SeedChoice = "all"): number[] =>
    orderedSeeds(RESULTS.toReversed(), order, choice).map(({ seed }) => seed);
  assert.deepEqual(seeds("seed"), [0, 1, 2, 3, 4, 5, 6, 10]);
  assert.deepEqual(seeds("solved"), [1, 5, 0, 10, 2, 3, 6, 4]);
  assert.deepEqual(seeds("loss"), [1, 5, 10, 0, 2, 3, 4, 6]);
  assert.deepEqual(seeds("epoch"), [5, 1, 0, 2, 10, 3, 4, 6]);
  assert.deepEqual(seeds("seed", "solved"), [1, 5]);
  assert.deepEqual(seeds("loss", "not solved"), [10, 0]);
  assert.deepEqual(seeds("seed", "diverged"), [2]);
});

test("seeds are counted, and nothing is rounded to certainty", () => {
  assert.deepEqual(countSeeds(RESULTS), { all: 8, trained: 5, solved: 2, diverged: 1 });
  const told = "5 of 8 trained; solved: 2 of 5 runs (40%; 95% interval 12% to 77%); 1 diverged";
  assert.equal(countsInWords(countSeeds(RESULTS)), told);
  const words = (trained: number, solved: number): string =>
    countsInWords({ all: 1000, trained, solved, diverged: 0 });
  assert.equal(words(0, 0), "0 of 1000 trained");
  assert.match(words(1, 1), /solved: 1 of 1 run \(100%; 95% interval 21% to 100%\)$/);
  assert.match(words(1000, 999), /\(>99%; 95% interval 99% to >99%\)$/);
  assert.match(words(1000, 1), /\(<1%; 95% interval <1% to 1%\)$/);
});

test("the time left follows from what was done", () => {
  assert.equal(timeLeft(100, 10, 900), "1:30 left");
  assert.equal(timeLeft(0, 10, 900), "");
  assert.equal(timeLeft(100, 10, 0), "");
});

test("a short curve is whole, a long one has its lowest and highest values", () => {
  for (const epochs of [0, 1, 2, 99, 254, 255]) {
    const curve = new ThinCurve(epochs);
    const values = Array.from({ length: epochs + 1 }, (_, i) => Math.fround(Math.sin(i * i)));
    values.forEach((value, epoch) => curve.add(epoch, value));
    assert.deepEqual([...curve.points], values);
    assert.deepEqual(
      values.map((_, i) => pointEpoch(i, epochs)),
      [...values.keys()],
    );
  }
  for (const epochs of [256, 1000, 12_345, 1_000_003]) {
    const curve = new ThinCurve(epochs);
    const spike = Math.floor(epochs / 3);
    for (let epoch = 0; epoch <= epochs; epoch++)
      curve.add(epoch, epoch === spike ? 9 : epoch === spike + 1 ? -9 : 1 - epoch / epochs);
    const points = [...curve.points];
    assert.ok(points.length <= MOST_POINTS && points.length > MOST_POINTS / 3);
    assert.deepEqual([Math.max(...points), Math.min(...points)], [9, -9]);
    const at = points.indexOf(9);
    assert.ok(Math.abs(pointEpoch(at, epochs) - spike) <= epochs / 100);
    assert.ok(pointEpoch(points.length - 1, epochs) <= epochs);
  }
});

test("what has no value leaves a gap, and hides nothing beside it", () => {
  const curve = new ThinCurve(10);
  [1, NaN, NaN, NaN, 4].forEach((value, epoch) => curve.add(epoch, value));
  assert.deepEqual([...curve.points], [1, 1, NaN, NaN, 4]);
});

test("the axis of the loss has whole powers of ten, and only grows", () => {
  assert.equal(lossPowers(null, Float32Array.of(NaN)), null);
  const first = lossPowers(null, Float32Array.of(0.7, 0.2));
  assert.deepEqual(first, [-1, 0]);
  assert.equal(lossPowers(first, Float32Array.of(0.5, NaN)), first);
  assert.deepEqual(lossPowers(first, Float32Array.of(0, 1e30, Infinity)), [-8, 2]);
  assert.deepEqual(lossPowers(null, Float32Array.of(1)), [0, 1]);
});

test("how many seeds, and from which, is refused in a sentence", () => {
  assert.deepEqual([readSeedCount("1000", 0), readSeedCount(" 1 ", LARGEST_SEED)], [1000, 1]);
  for (const text of ["0", "1001", "-1", "2.5", "many", "", "1e3"])
    assert.throws(() => readSeedCount(text, 0), {
      message: `seeds: expected a whole number from 1 to 1000, but got '${text}'.`,
    });
  assert.throws(
    () => readSeedCount("3", LARGEST_SEED - 1),
    /^ReadableError: seeds: expected at most 2 /,
  );
  assert.equal(readSeed("9007199254740991"), LARGEST_SEED);
  for (const text of ["9007199254740992", "-1", "", "x"])
    assert.throws(() => readSeed(text), /^ReadableError: seed: expected a whole number from 0 to /);
});

test("workers leave the page a core where there is one to leave", () => {
  const cores = [undefined as unknown as number, 0, 1, 2, 3, 4, 8, 9, 128];
  assert.deepEqual(
    cores.map((count) => workersFor(count, 1000)),
    [1, 1, 1, 2, 2, 3, 7, 8, 8],
  );
  assert.equal(workersFor(16, 3), 3);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { FARTHEST, marginOf } from "../../src/model/margin";
import { nats } from "../../src/model/number-text";

/** Probabilities of logits, as a kernel of this precision has them. */
function softmax(logits: readonly number[], round: (x: number) => number = (x) => x): number[] {
  const top = Math.max(...logits);
  const powers = logits.map((logit) => round(Math.exp(logit - top)));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => round(power / sum));
}

const CASES: [logits: number[], target: number, margin: number][] = [
  [[0, 0], 0, 0],
  [[1.5, -0.5], 0, 2],
  [[1.5, -0.5], 1, -2],
  [[3, 1, 2.25], 0, 0.75],
  [[3, 1, 2.25], 1, -2],
  [[40, 0], 0, 40], // where the probability of the target is 1
  [[0, 80, -5], 0, -80],
];

test("the margin is that of the logits, in either precision", () => {
  for (const [logits, target, margin] of CASES)
    for (const round of [Math.fround, (x: number) => x]) {
      const found = marginOf(softmax(logits, round), target);
      assert.ok(Math.abs(found - margin) < 1e-5, `${logits.join()}: ${found}`);
    }
});

test("what a probability of 0 hides is told as a bound", () => {
  const { float32, float64 } = FARTHEST;
  assert.deepEqual([float32, float64], [87, 708]);
  assert.ok(Math.exp(-float64) > 2.3e-308 && Math.exp(-float32) > 1.18e-38, "normal numbers");
  assert.equal(nats(marginOf([1, 0], 0), float32), "> 87 nats");
  assert.equal(nats(marginOf([1, 0], 1), float64), "< -708 nats");
  assert.equal(nats(marginOf([1, 1e-44], 0), float32), "> 87 nats"); // a subnormal has few digits
  assert.equal(nats(marginOf(softmax([0, -86.25]), 0), float32), "86.3 nats");
  assert.equal(nats(marginOf([0.25, 0.75], 0), float32), "-1.1 nats");
});

test("no margin where there is nothing to compare", () => {
  for (const probabilities of [[NaN, NaN], [1], []])
    assert.equal(nats(marginOf(probabilities, 0), FARTHEST.float32), "–");
});

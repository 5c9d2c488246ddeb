// What the kernel itself tells; the model's arithmetic is compared with Python's in tests/.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Kernel } from "../../src/model/kernel";
import { builtKernel } from "../built-kernel";

let kernel: Kernel;

before(async () => {
  kernel = await builtKernel();
});

test("a variance in shares, and none where there is nothing but rounding", () => {
  const shares = (parts: number[]) => kernel.varianceShares(Float64Array.from(parts), 1e-20);
  assert.deepEqual(shares([1, 2, 5, 100]), {
    between: 0.125,
    permutation: 0.25,
    suffix: 0.625,
    variance: 8,
  });
  for (const none of [
    [0, 0, 0, 0],
    [0, 0, 0, 1],
    [1e-21, 0, 0, 1],
    [-1e-3, 0, 0, 1], // estimates from a sample may come out below 0
    [NaN, 0, 0, 1],
  ])
    assert.equal(shares(none), null);
  assert.ok(shares([1e-19, 0, 0, 1]));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Mark } from "../../src/model/marks";
import { markTold, toldMark, type ToldMark } from "../../src/model/told-marks";
import type { Sequences } from "../../src/model/types";

const SEQUENCES = {
  tokens: Int32Array.from([0, 1, 2, 1, 1, 0, 2, 2, 2]),
  count: 3,
  length: 3,
} as Sequences;

const CASES: [Mark, ToldMark][] = [
  [
    { slot: 0, kind: "token", index: 2 },
    { run: 0, kind: "token", index: 2 },
  ],
  [
    { slot: 1, kind: "position", index: 1 },
    { run: 1, kind: "position", index: 1 },
  ],
  [
    { slot: 0, kind: "unit", index: 31 },
    { run: 0, kind: "unit", index: 31 },
  ],
  [
    { slot: 0, kind: "pair", index: 7 },
    { run: 0, kind: "pair", token: 2, position: 1 },
  ],
  [
    { slot: 1, kind: "sequence", index: 1 },
    { run: 1, kind: "sequence", tokens: [1, 1, 0] },
  ],
];

test("a mark is told by what it is, and found again", () => {
  for (const [mark, told] of CASES) {
    assert.deepEqual(toldMark(mark, SEQUENCES), told);
    assert.deepEqual(markTold(told, SEQUENCES), mark);
  }
});

test("a sequence that is not shown marks nothing", () => {
  assert.equal(markTold({ run: 0, kind: "sequence", tokens: [0, 0, 0] }, SEQUENCES), null);
});

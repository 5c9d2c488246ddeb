// The parts of live runs; that they train with Python's bits is tests/kernel/wasm/test_live_runs.py.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import type { ParameterSlice } from "../../../src/model/kernel";
import { EditHistory } from "../../../src/model/live/edit-history";
import { frozenMask } from "../../../src/model/live/frozen-parts";
import { GrowingRows } from "../../../src/model/live/growing-rows";
import { sha256 } from "../../../src/model/live/sha256";
import { vectorAt, withVector, type Movable } from "../../../src/model/live/weight-edits";

const PARAMETERS = (
  [
    ["token_embedding", [2, 2]],
    ["position_embedding", [3, 2]],
    ["query", [2]],
    ["value", [2, 2]],
    ["receptors", [3, 2]],
    ["assemblers", [2, 3]],
  ] as const
).reduce<ParameterSlice[]>((all, [name, shape]) => {
  const last = all.at(-1);
  const offset = last ? last.offset + last.size : 0;
  return [...all, { name, shape: [...shape], offset, size: shape.reduce((a, b) => a * b, 1) }];
}, []);
const SIZE = 4 + 6 + 2 + 4 + 6 + 6;

test("rows grow, and can be taken back", () => {
  const rows = new GrowingRows(2, "float32", 1);
  for (let i = 0; i < 100; i++) rows.append(Float32Array.of(i, -i));
  assert.equal(rows.count, 100);
  assert.deepEqual([...rows.rows(98, Infinity)], [98, -98, 99, -99]);
  assert.deepEqual([...rows.column(1).slice(0, 3)], [-0, -1, -2]);
  rows.count = 2;
  rows.append(Float32Array.of(7, 8, 9, 10));
  assert.deepEqual([...rows.rows(1, 4)], [1, -1, 7, 8, 9, 10]);
});

test("hashes are those of everybody", () => {
  for (const size of [0, 1, 55, 56, 63, 64, 65, 119, 1000, 4096]) {
    const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 131 + size) % 256);
    assert.equal(sha256(bytes), createHash("sha256").update(bytes).digest("hex"), `${size}`);
  }
});

const FROZEN: [parts: string[], frozen: number[]][] = [
  [[], []],
  [["query"], [10, 11]],
  [["token_embedding[1]"], [2, 3]],
  [["token_embedding[-1]"], [2, 3]],
  [["position_embedding[1:]"], [6, 7, 8, 9]],
  [
    ["position_embedding[::2]", "value[0,1]"],
    [4, 5, 8, 9, 13],
  ],
  [["assemblers[:,1]"], [23, 26]],
];

test("frozen parts are those that their index names", () => {
  for (const [parts, frozen] of FROZEN) {
    const mask = frozenMask(parts, PARAMETERS);
    const found = mask ? [...mask.keys()].filter((i) => mask[i]) : [];
    assert.deepEqual(found, frozen, parts.join());
    assert.equal(mask?.length ?? SIZE, SIZE);
  }
  for (const part of ["key", "query[5]", "value[0,0,0]", "value[1:1]", "value[a]", "value["])
    assert.throws(() => frozenMask([part], PARAMETERS), /training.frozen/, part);
});

const MOVED: [Movable, number[]][] = [
  [{ parameter: "token_embedding", index: 1 }, [2, 3]],
  [{ parameter: "position_embedding", index: 2 }, [8, 9]],
  [{ parameter: "query", index: 0 }, [10, 11]],
  [{ parameter: "receptors", index: 1 }, [18, 19]],
  [{ parameter: "assemblers", index: 2 }, [24, 27]],
];

test("a vector is moved, and nothing else", () => {
  const weights = Float32Array.from({ length: SIZE }, (_, i) => i);
  for (const [movable, places] of MOVED) {
    assert.deepEqual([...vectorAt(weights, PARAMETERS, movable)], places);
    const moved = withVector(weights, PARAMETERS, movable, [0.5, -1.5]);
    const differs = [...moved.keys()].filter((i) => moved[i] !== weights[i]);
    assert.deepEqual(differs, places);
    assert.deepEqual([...vectorAt(moved, PARAMETERS, movable)], [0.5, -1.5]);
  }
  const token: Movable = { parameter: "token_embedding", index: 2 };
  assert.throws(() => vectorAt(weights, PARAMETERS, token), /a number from 0 to 1/);
  assert.throws(
    () => withVector(weights, PARAMETERS, { ...token, index: 0 }, [NaN, 0]),
    /finite numbers/,
  );
});

test("what is done can be undone, and done again", () => {
  const edits = new EditHistory("a", 3);
  for (const state of ["b", "c", "d", "e"]) edits.do(state);
  edits.do("f", true); // the same drag
  assert.equal(edits.now, "f");
  assert.deepEqual([edits.undo(), edits.undo(), edits.undo(), edits.undo()], ["d", "c", "b", "b"]);
  assert.ok(!edits.canUndo && edits.canRedo);
  assert.deepEqual([edits.redo(), edits.redo()], ["c", "d"]);
  edits.do("x");
  assert.ok(!edits.canRedo);
  assert.equal(edits.undo(), "d");
});

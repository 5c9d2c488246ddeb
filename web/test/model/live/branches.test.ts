// What a branch is: its place in the tree, its changes, what can be held and frozen.

import assert from "node:assert/strict";
import { test } from "node:test";
import { changesTold, treeRows } from "../../../src/model/live/branch-tree";
import { heldAt, holdsOf } from "../../../src/model/live/clamps";
import { defaultConfig, withOptions } from "../../../src/model/live/live-options";
import { editsOf } from "../../../src/model/live/run-edits";
import {
  changesBetween,
  checkChanges,
  clampText,
  partOf,
} from "../../../src/model/live/train-on-plan";

const config = defaultConfig();

test("branches stand below what they were branched from", () => {
  const entry = (id: string, parent: string | null) => ({
    id,
    parent: parent === null ? null : { id: parent, epoch: 5 },
  });
  const all = [entry("a", null), entry("b", "stored"), entry("c", "a"), entry("d", "c")];
  const rows = treeRows([...all, entry("e", "a")]).map((row) => [row.entry.id, row.depth]);
  const wanted = [
    ["a", 0],
    ["c", 1],
    ["d", 2],
    ["e", 1],
    ["b", 0],
  ];
  assert.deepEqual(rows, wanted);
});

test("what was changed is told in a few words", () => {
  const edits = [
    { epoch: 3, step: 9, options: { "training.lr": 0.1 } },
    { epoch: 7, step: 21, options: { "training.clamps": [], "training.batch": 8 } },
    { epoch: 7, step: 21, parameters: "hash" },
  ];
  assert.equal(changesTold(edits, 7), "clamps none, batch 8, weights");
  assert.equal(changesTold([], 0), "");
});

test("only what changes is a change", () => {
  const other = withOptions(config, { "training.lr": 0.5, "training.batch": 8 });
  const names = ["training.lr", "training.optimizer"];
  assert.deepEqual(changesBetween(config, other, names), { "training.lr": 0.5 });
});

test("vectors are frozen by their parts", () => {
  assert.equal(partOf({ parameter: "query", index: 0 }), "query");
  assert.equal(partOf({ parameter: "token_embedding", index: 1 }), "token_embedding[1]");
  assert.equal(partOf({ parameter: "assemblers", index: 4 }), "assemblers[:,4]");
});

const HELD: [clamp: string, attention: number[]][] = [
  ["attention[0:2]=1.0@3:5", [0.5, 0.5, 0, 0]],
  ["attention[3]=0.2@0:1", [0, 0, 0, 1]],
  ["attention[0,2]=1,3@0:1", [0.25, 0, 0.75, 0]],
];
const REFUSED = [
  ...["", "attention", "attention[0:9]=1@0:1", "attention[4]=1@0:1", "attention[0]=0@0:1"],
  ...["attention[0]=-1@0:1", "attention[0,0]=1@0:1", "attention[0]=1@5:5", "attention[0:1]=a@0:1"],
  ...[
    "attention[0,1]=1,2,3@0:1",
    "attention[2:1]=1@0:1",
    "attention[0]=1e999@0:1",
    "values[0]=1@0:1",
  ],
];

test("attention is held as clamps say, and nonsense is refused", () => {
  for (const [clamp, attention] of HELD)
    assert.deepEqual(holdsOf([clamp], 4)[0]!.attention, attention, clamp);
  for (const clamp of REFUSED)
    assert.throws(() => holdsOf([clamp], 4), /training.clamps: expected/, clamp);
  const two = ["attention[0]=1@5:9", "attention[1]=1@0:5"];
  const held = [5, 6, 9, 10].map((epoch) => heldAt(two, 4, epoch));
  assert.deepEqual(held, [[0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], null]);
  assert.throws(() => holdsOf(["attention[0]=1@0:6", two[0]!], 4), /one after the other/);
  assert.equal(clampText({ positions: "0, 2", from: 1, to: 4 }), "attention[0,2]=1.0@1:4");
});

test("changes that training could not go on with are refused", () => {
  const cosine = withOptions(config, { "training.schedule": "cosine" });
  checkChanges(config, [], 5, { "training.batch": 8 });
  assert.throws(() => checkChanges(cosine, [], 5, { "training.batch": 8 }), /cannot change/);
  const clamps = { "training.clamps": ["attention[0:50]=1@5:9"] };
  assert.throws(() => checkChanges(config, [], 5, clamps), /training.clamps/);
});

test("the changes of a stored run are read from its origin, whatever stands there", () => {
  const edits = [{ epoch: 3, step: 9, options: { "training.lr": 0.1 } }];
  assert.deepEqual(editsOf({ kind: "branch", edits }), edits);
  const last = { kind: "branch", epoch: 4, step: 12, start: "hash" };
  assert.deepEqual(editsOf(last), [{ epoch: 4, step: 12, parameters: "hash" }]);
  for (const origin of [
    null,
    7,
    "x",
    [],
    {},
    { kind: "fine-tune" },
    { kind: "branch", edits: [0] },
  ])
    assert.deepEqual(editsOf(origin), []);
});

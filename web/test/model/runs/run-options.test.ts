import assert from "node:assert/strict";
import { test } from "node:test";
import type { Columns } from "../../../src/model/runs/run-filter";
import { RunOptions } from "../../../src/model/runs/run-options";

const told = (columns: Columns): string[] => {
  const options = new RunOptions({ id: ["a", "b", "c", "d"], seed: [0, 1, 2, 3], ...columns });
  return [0, 1, 2, 3].map((row) => options.brief(row).join(" · "));
};
const accuracy = [0.1, 0.2, 0.3, 0.4];

const CASES: [string, Columns, string[]][] = [
  ["runs that differ in nothing", { dim: [2, 2, 2, 2], accuracy }, ["", "", "", ""]],
  ["one option", { dim: [2, 2, 8, 64], accuracy }, ["d 2", "d 2", "d 8", "d 64"]],
  [
    "what was measured is no option",
    { hidden: [1, 1, 1, 2], accuracy, seconds: [1, 2, 3, 4] },
    ["h 1", "h 1", "h 1", "h 2"],
  ],
  [
    "of many, where a run is not as most are, the rarest first",
    {
      vocab: [2, 2, 3, 3],
      dim: [2, 2, 2, 8],
      optimizer: ["adam", "sgd", "sgd", "sgd"],
      lr: [0.003, 0.003, Math.fround(0.01), 0.003],
      accuracy,
    },
    ["adam", "", "lr 0.01 · p 3", "d 8 · p 3"],
  ],
  [
    "how long and how many only of runs that differ in nothing else",
    {
      train_size: [64, 64, 64, 128],
      dim: [2, 2, 2, 8],
      norm: ["rms", "rms", "none", "rms"],
      epochs: [100, 200, 100, 300],
      accuracy,
    },
    ["", "epochs 200", "no norm", "d 8"],
  ],
  [
    "lists: how many, or else which",
    { relevant: [[0, 1], [0, 1], [0, 1, 2], [0]], frozen: [["E"], ["P"], ["E"], ["E"]], accuracy },
    ["k 2 · E", "k 2 · P", "k 3 · E", "k 1 · E"],
  ],
  [
    "what is missing, yes and no",
    { clip: [null, null, 1, 1], weight_bias: [true, false, true, true], accuracy },
    [
      "no clip · weight bias",
      "no clip · no weight bias",
      "clip 1 · weight bias",
      "clip 1 · weight bias",
    ],
  ],
];
for (const [name, columns, wanted] of CASES)
  test(`options: ${name}`, () => assert.deepEqual(told(columns), wanted));

test("all options of a run, however many", () => {
  const options = new RunOptions({
    seed: [0, 1],
    dim: [2, 3],
    hidden: [4, 5],
    lr: [1, 2],
    accuracy,
  });
  assert.deepEqual(options.all(1), ["d 3", "h 5", "lr 2"]);
});

test("a table without runs or columns has none", () => {
  assert.deepEqual(new RunOptions({}).names, []);
  assert.deepEqual(new RunOptions({ dim: [], accuracy: [] }).names, []);
});

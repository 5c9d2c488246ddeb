import assert from "node:assert/strict";
import { test } from "node:test";
import { weightsNote, type ShownWeights } from "../../src/model/weights-note";

const KEPT: ShownWeights = {
  wanted: 57,
  shown: { epoch: 57, source: "kept" },
  awaited: null,
  reached: null,
  recomputable: true,
  why: null,
};

const CASES: [name: string, of: ShownWeights, text: string | null][] = [
  ["kept", KEPT, null],
  ["nothing yet", { ...KEPT, shown: null }, null],
  ["recomputed", { ...KEPT, shown: { epoch: 57, source: "recomputed" } }, "recomputed"],
  [
    "on its way",
    { ...KEPT, shown: { epoch: 50, source: "kept" }, awaited: 57 },
    "recomputing · panels: epoch 50",
  ],
  ["the first one", { ...KEPT, shown: null, awaited: 57 }, "recomputing"],
  [
    "a long way",
    { ...KEPT, shown: null, awaited: 57, reached: 20 },
    "recomputing: 20 of 57 epochs",
  ],
  ["a kept one on its way", { ...KEPT, awaited: 57, recomputable: false }, null],
  [
    "not to be had",
    { ...KEPT, shown: { epoch: 50, source: "nearest" }, recomputable: false, why: "Imported." },
    "not kept · panels: epoch 50",
  ],
];

test("what is said of weights that were not kept", () => {
  for (const [name, of, text] of CASES) assert.equal(weightsNote(of)?.text ?? null, text, name);
});

test("what cannot be had says why", () => {
  const [, of] = CASES.at(-1)!;
  assert.equal(
    weightsNote(of)!.about,
    "The weights of epoch 57 were not kept, and they cannot be computed again. Imported.",
  );
});

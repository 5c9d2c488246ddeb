// A saved run: what is written is read, trained again it has the same bits, and nonsense is refused.

import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultConfig, withOptions } from "../../../src/model/live/live-options";
import { LiveRun } from "../../../src/model/live/live-run";
import { readRecipe } from "../../../src/model/live/read-recipe";
import { replayed } from "../../../src/model/live/replay-recipe";
import { recipeOf } from "../../../src/model/live/run-recipe";
import { base64OfBytes } from "../../../src/model/server/base64";
import { builtKernel } from "../../built-kernel";

const config = withOptions(defaultConfig(), {
  "task.train_size": 64,
  "task.test_size": 32,
  "training.batch": 16,
});
const kernel = await builtKernel();

function trained(): LiveRun {
  const run = LiveRun.start(kernel, config, 3);
  run.advance(5);
  run.change({ "training.lr": 0.01, "training.clamps": ["attention[0,2]=1,3@5:7"] });
  run.setParameters(run.weightsNow.map((each) => each + 0.5));
  run.advance(2);
  run.advanceSteps(2); // in the middle of an epoch
  run.setParameters(run.weightsNow.map((each) => -each));
  run.advance(4);
  return run;
}

test("a run is trained again with every bit, also after changes within an epoch", () => {
  const run = trained();
  const text = JSON.stringify(recipeOf(run, run.epoch, "0.1.0"));
  const steps = replayed(kernel, readRecipe(text));
  let last = steps.next();
  while (!last.done) last = steps.next();
  const again = last.value;
  assert.equal(again.epoch, run.epoch);
  assert.deepEqual(again.weights.rows(0, Infinity), run.weights.rows(0, Infinity));
  assert.deepEqual(again.curves.rows(0, Infinity), run.curves.rows(0, Infinity));
  assert.deepEqual(again.edits, run.edits);
});

const PLAIN = { dynascope: "0.1.0", recipe: 1, config, seed: 3, epochs: 10, changes: [] };
const read = (changes: object): unknown => readRecipe(JSON.stringify({ ...PLAIN, ...changes }));
const changed = (change: object): object => ({ changes: [{ epoch: 2, step: 8, ...change }] });
const numbers = (length: number, value = 0): string =>
  base64OfBytes(new Uint8Array(new Float32Array(length).fill(value).buffer));

const REFUSED: [changes: object, sentence: RegExp][] = [
  [{ extra: 1 }, /a saved run: expected dynascope, .*but got 'extra'/],
  [{ recipe: 2 }, /later version/],
  [{ recipe: "1" }, /recipe: expected a whole number/],
  [{ seed: -1 }, /seed: expected a whole number from 0 to 9007199254740991/],
  [{ seed: 2 ** 53 }, /seed/],
  [{ seed: "<img src=x onerror=alert(1)>" }, /seed/],
  [{ epochs: 1e8 }, /epochs/],
  [{ epochs: 9.5 }, /epochs/],
  [{ config: [] }, /config: expected a table/],
  [{ config: { ...config, model: { dim: 1e9 } } }, /model.dim: expected a whole number/],
  [{ config: { ...config, model: { dims: 2 } } }, /model.dims: expected an option/],
  [{ config: { ...config, more: {} } }, /config: expected task, model/],
  [{ config: { ...config, training: { batch: 4096 } } }, /training.batch: expected at most/],
  [{ config: { ...config, training: { clamps: ["x"] } } }, /training.clamps/],
  [{ config: withOptions(config, { "model.dim": 1024 }), epochs: 1e6 }, /too large to train/],
  [{ epochs: 1e7 }, /too large to train/],
  [{ start: "!" }, /start: expected 196 finite numbers/],
  [{ start: numbers(195) }, /start: expected 196 finite numbers/],
  [{ start: numbers(196, NaN) }, /start: expected 196 finite numbers/],
  [{ changes: {} }, /changes: expected a list/],
  [{ changes: new Array(10_001).fill({}) }, /changes: expected a list of at most/],
  [changed({ epoch: 11 }), /epoch: expected a whole number from 0 to 10/],
  [changed({ step: 7 }), /step: expected a whole number from 8 to 11/],
  [changed({ step: 12 }), /step: expected a whole number from 8 to 11/],
  [changed({ step: 9, options: { "training.lr": 1 } }), /end of an epoch/],
  [changed({ options: { "training.lr": "1" } }), /training.lr: expected/],
  [changed({ options: { "training.epochs": 5 } }), /options of training/],
  [changed({ options: { "model.dim": 5 } }), /options of training/],
  [changed({ options: { "training.batch": 100 } }), /training.batch: expected at most/],
  [changed({ options: { "training.clamps": ["attention[99]=1@0:1"] } }), /training.clamps/],
  [changed({ weights: numbers(3) }), /weights: expected 196/],
  [changed({ weights: numbers(196, Infinity) }), /weights: expected 196/],
  [changed({ script: "x" }), /changes: expected epoch, step/],
];

test("whatever else a file says is refused before anything runs", () => {
  assert.ok(read({}));
  assert.ok(read(changed({ step: 11, weights: numbers(196, 0.5) })));
  for (const [changes, sentence] of REFUSED)
    assert.throws(() => read(changes), { name: "ReadableError", message: sentence });
  const strange = ["", "[", "null", "[]", "1", '"x"', "{}", '{"__proto__": {"seed": 1}}'];
  for (const text of strange) assert.throws(() => readRecipe(text), { name: "ReadableError" });
});

test("changes follow each other in time", () => {
  const weights = numbers(196, 0.5);
  const two = (first: object, second: object) =>
    read({
      changes: [
        { weights, ...first },
        { weights, ...second },
      ],
    });
  assert.ok(two({ epoch: 2, step: 8 }, { epoch: 2, step: 9 }));
  assert.throws(() => two({ epoch: 2, step: 9 }, { epoch: 2, step: 8 }), /step/);
  assert.throws(() => two({ epoch: 3, step: 12 }, { epoch: 2, step: 8 }), /epoch/);
  const batch = { epoch: 2, step: 8, options: { "training.batch": 64 } };
  assert.ok(two(batch, { epoch: 4, step: 10 }));
  assert.throws(() => two(batch, { epoch: 4, step: 16 }), /step/);
});

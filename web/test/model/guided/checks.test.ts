// Checks of guided experiments: what they accept, what they refuse, and what they say.

import assert from "node:assert/strict";
import { test } from "node:test";
import { crossingOf } from "../../../src/model/guided/crossing";
import type { Changed, ObservedRun, Outcome } from "../../../src/model/guided/experiment";
import { EXPERIMENTS, experimentNamed } from "../../../src/model/guided/experiments";
import { OPTIONS } from "../../../src/model/kernel/names";
import type { KeptSum } from "../../../src/model/kept-sum";
import { checkConfig, defaultConfig, withOptions } from "../../../src/model/live/live-options";
import type { Points } from "../../../src/model/types";

const points = (...all: [number, number][]): Points => ({
  x: Float64Array.from(all, ([x]) => x),
  y: Float64Array.from(all, ([, y]) => y),
  count: all.length,
});

const run = (parts: Partial<ObservedRun> = {}): ObservedRun => ({
  config: defaultConfig(),
  seed: 15,
  epoch: 200,
  trained: 300,
  training: false,
  curves: { train_loss: new Float64Array(301).fill(1e-4), test_accuracy: new Float64Array(301) },
  branchedAt: null,
  changed: null,
  circuit: null,
  sum: null,
  ...parts,
});

const changed = (parts: Partial<Changed>): Changed => ({
  loss: 1,
  positions: [],
  crossing: null,
  ...parts,
});

/** The check of a step, made. */
function checked(
  name: string,
  step: number,
  seen: readonly ObservedRun[],
  typed = "",
  notes: Record<string, number> = {},
): Outcome {
  const task = experimentNamed(name)!.steps[step]!.task!;
  assert.ok("check" in task);
  return task.check(seen, { typed, notes });
}

const CROSSED = { count: 4, crossed: 2, moved: 0.3, turned: 1.8, amplified: 6 };

test("links name each experiment, and nothing else", () => {
  assert.equal(new Set(EXPERIMENTS.map(({ name }) => name)).size, EXPERIMENTS.length);
  for (const { name } of EXPERIMENTS) assert.match(name, /^[a-z-]{1,32}$/);
  for (const name of [null, "", "constructor", "__proto__", "Spike"])
    assert.equal(experimentNamed(name), null);
});

test("runs that are trained have options that exist, and questions one right answer each", () => {
  for (const { steps } of EXPERIMENTS)
    for (const { action, task } of steps) {
      if (action?.act.kind === "train") {
        for (const name of Object.keys(action.act.options))
          assert.ok(OPTIONS.some((option) => option.name === name));
        checkConfig(withOptions(defaultConfig(), action.act.options));
      }
      if (task && "ask" in task) assert.equal(task.choices.filter(({ right }) => right).length, 1);
    }
});

test("nothing is right before anything was done", () => {
  for (const { name, steps } of EXPERIMENTS)
    steps.forEach(({ task }, i) => {
      if (!task || !("check" in task)) return;
      assert.equal(checked(name, i, []).done, false, `${name} ${i}`);
      assert.equal(checked(name, i, [run()]).done, false, `${name} ${i}`);
    });
});

test("embeddings on the other side of the origin are counted, and the largest stretch is found", () => {
  const before = {
    raw: points([0.1, 0], [1, 1], [0, 0]),
    normalized: points([1, 0], [1, 1], [0, 0]),
  };
  const after = {
    raw: points([-0.1, 0], [1, 1.5], [0, 0]),
    normalized: points([-1, 0], [1, 1.2], [0, 0]),
  };
  const { crossed, moved, turned, amplified, count } = crossingOf(before, after);
  assert.deepEqual([crossed, count, moved, turned, amplified], [1, 3, 0.2, 2, 10]);
});

test("a push counts once it crosses the origin and costs something", () => {
  const pushed = (crossing: Changed["crossing"], loss: number | null) =>
    checked("spike", 1, [run({ changed: changed({ crossing, loss }) })]);
  assert.equal(pushed({ ...CROSSED, crossed: 0 }, 20).done, false);
  assert.equal(pushed(CROSSED, null).done, false);
  assert.equal(pushed(CROSSED, 2e-4).done, false);
  assert.match(pushed({ ...CROSSED, amplified: 1.4 }, 20).told, /hardly stretches a step: undo/);
  assert.match(checked("spike", 4, [run()]).told, /with the smooth norm first/);
  const { done, told, notes } = pushed(CROSSED, 20);
  assert.equal(done, true);
  assert.match(told, /^2 of 4 embeddings .* 6\.0 times as far\. .* from 1\.00e-4 to 20\.$/);
  assert.equal(notes!["amplified"], 6);
  const smooth = withOptions(defaultConfig(), { "model.norm": "smooth" });
  const other = run({ config: smooth, changed: changed({ crossing: CROSSED, loss: 20 }) });
  assert.equal(checked("spike", 1, [other]).done, false);
  assert.match(
    checked("spike", 4, [other], "", { amplified: 6 }).told,
    /With the usual norm it was 6\.0 times/,
  );
});

test("a branch shows its spike, and whether it recovered", () => {
  const losses = new Float64Array(301).fill(1e-4);
  losses[201] = 3;
  const after = (curve: Float64Array, trained = 300) =>
    checked("spike", 2, [run(), run({ branchedAt: 200, trained, curves: { train_loss: curve } })]);
  assert.match(after(losses).told, /It has recovered/);
  assert.match(after(losses.map((loss, i) => (i > 200 ? 3 : loss))).told, /not recovered so far/);
  assert.equal(after(losses, 210).done, false);
  const edited = [run({ changed: changed({ crossing: CROSSED, loss: 20 }) })];
  assert.match(checked("spike", 2, edited).told, /^The push is there\. Now press Train on/);
  assert.equal(after(new Float64Array(301).fill(1e-4)).done, false);
});

test("one position is cut, of the right kind, and its loss decides", () => {
  const cut = (step: number, positions: number[], loss: number) =>
    checked("cut", step, [run({ changed: changed({ positions, loss }) })]).done;
  assert.deepEqual(
    [cut(1, [0], 8), cut(1, [0, 1], 8), cut(1, [7], 8), cut(1, [0], 0.01)],
    [true, false, false, false],
  );
  assert.deepEqual([cut(2, [7], 1e-5), cut(2, [0], 1e-5), cut(2, [7], 1)], [true, false, false]);
});

test("gathered means the circuit of this very epoch, and answers still wrong", () => {
  const at = (epoch: number, between: number, accuracy: number) =>
    checked("two-phases", 1, [
      run({
        circuit: { epoch, between, clusters: null },
        curves: { test_accuracy: new Float64Array(301).fill(accuracy) },
      }),
    ]).done;
  assert.deepEqual(
    [at(200, 0.95, 0.6), at(199, 0.95, 0.6), at(200, 0.8, 0.6), at(200, 0.95, 0.9)],
    [true, false, false, false],
  );
});

test("a sum with a minus sign is another one where its token is 1", () => {
  const terms = new Int32Array(12 * 4);
  for (let t = 0; t < 5; t++) terms.set(t === 4 ? [0, 1, 1, 0] : [1, 0, 0, 1], 4 * t);
  const sum: KeptSum = {
    ...{ kind: "signed", share: 1, corrected: 1, values: 6, apart: [], terms: [terms] },
    ...{ positions: [0, 1, 2, 3, 4], length: 12, vocab: 2, best: {} },
  };
  const typed = (text: string) => checked("minus", 1, [run({ sum })], text);
  assert.match(
    typed("00001").told,
    /plain sum is 1, and x0 \+ x1 \+ x2 \+ x3 - x4 is -1\. They differ by 2/,
  );
  assert.deepEqual(
    ["00001", "11110", "0000", "00002", "<b>"].map((text) => typed(text).done),
    [true, false, false, false, false],
  );
});

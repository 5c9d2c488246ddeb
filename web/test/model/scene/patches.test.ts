// A value from another sequence or epoch, given to every sequence.

import assert from "node:assert/strict";
import { test } from "node:test";
import { modelOptions } from "../../../src/model/kernel";
import { defaultConfig } from "../../../src/model/live/live-options";
import { taskOfConfig } from "../../../src/model/live/live-run";
import { PATCH_SITES, type Patch } from "../../../src/model/scene/patches";
import { forwardWith, NO_INTERVENTION } from "../../../src/model/scene/scene-kernel";
import { scoresOf } from "../../../src/model/scene/set-scores";
import { builtKernel } from "../../built-kernel";

const kernel = await builtKernel();
const config = defaultConfig();
const model = kernel.model(modelOptions(config));
const [now, then] = [model.initialize(1), model.initialize(2)];
const train = kernel.dataset(taskOfConfig(config), 0, "train", 50);
const source = train.tokens.slice(0, 12);
const patchOf = (site: Patch["site"]): Patch => ({
  ...{ site, unit: site === "hidden" ? 7 : 0, sequence: 0 },
  ...{ tokens: source, epoch: 3, weights: then },
});

test("every sequence has the value that the patch was taken from", () => {
  for (const site of PATCH_SITES) {
    const patch = patchOf(site);
    const of = (weights: typeof now, tokens: Int32Array) =>
      model.forward(weights, tokens, { stages: [site] })[site];
    const [wanted, plain] = [of(then, source).data, of(now, train.tokens)];
    const { data, shape } = forwardWith(model, now, train.tokens, [site], { ablate: {}, patch })[
      site
    ];
    const width = data.length / shape[0]!;
    for (let i = 0; i < data.length; i++) {
      const patched = site !== "hidden" || i % width === patch.unit;
      assert.equal(data[i], patched ? wanted[i % width] : plain.data[i], `${site} ${i}`);
    }
  }
});

test("what follows a patched sequence embedding is the same for all", () => {
  const patch = patchOf("sequence");
  const { data } = forwardWith(model, now, train.tokens, ["logits"], { ablate: {}, patch }).logits;
  for (let i = 0; i < data.length; i++) assert.equal(data[i], data[i % 2]);
});

test("the loss of a patch is that of its logits, and of an idle one the kernel's own", () => {
  const sets = { train, test: null };
  const plain = scoresOf(model, now, sets, NO_INTERVENTION).train!;
  const idle = { ...patchOf("hidden"), weights: now };
  const one = { tokens: source, targets: train.targets.slice(0, 1) };
  const kept = scoresOf(model, now, { train: one, test: null }, { ablate: {}, patch: idle }).train!;
  const own = scoresOf(model, now, { train: one, test: null }, NO_INTERVENTION).train!;
  assert.ok(Math.abs(kept.loss - own.loss) < 1e-6 && kept.accuracy === own.accuracy);
  const patched = scoresOf(model, now, sets, { ablate: {}, patch: patchOf("sequence") }).train!;
  assert.notEqual(patched.loss, plain.loss);
  const attention = [0.5, 0.5, ...new Array<number>(10).fill(0)];
  const held = scoresOf(model, now, sets, { ablate: { attention }, patch: null }).train!;
  assert.equal(held.loss, model.gradient(now, train.tokens, train.targets, { attention }).loss);
});

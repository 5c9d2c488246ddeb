// A recipe trained again: every bit of the run that it was made of.

import type { Kernel } from "../kernel";
import { LiveRun } from "./live-run";
import type { Recipe, RecipeChange } from "./run-recipe";

/** Goes on with each `next`, by an epoch; what it returns is the run at its end. */
export function* replayed(kernel: Kernel, recipe: Recipe): Generator<number, LiveRun> {
  const run = LiveRun.start(kernel, recipe.config, recipe.seed, recipe.start);
  for (const change of recipe.changes) {
    yield* trainedTo(run, change.epoch);
    makeChange(run, change);
  }
  yield* trainedTo(run, recipe.epochs);
  return run;
}

function* trainedTo(run: LiveRun, epoch: number): Generator<number, void> {
  while (run.epoch < epoch && run.diverged === null) {
    run.advance(1);
    yield run.epoch;
  }
}

/** It may lie in the middle of an epoch. */
function makeChange(run: LiveRun, { step, options, weights }: RecipeChange): void {
  const left = step - run.progress.step;
  if (left > 0) run.advanceSteps(left);
  if (options && Object.keys(options).length) run.change(options);
  if (weights) run.setParameters(weights);
}

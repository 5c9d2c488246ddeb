// What a person wants of a branch besides its weights, as changes of options.

import { ReadableError } from "../errors";
import type { Config } from "../types";
import { holdsOf } from "./clamps";
import { optionOf } from "./live-options";
import { configAt, stepsDone, type RunEdit } from "./run-edits";
import type { Movable } from "./weight-edits";

/** Options by their whole names. */
export type OptionChanges = Readonly<Record<string, unknown>>;

/** Attention that is held: positions as `0:5` or `0,3`, and between the ends of which epochs. */
export interface PlannedClamp {
  positions: string;
  from: number;
  to: number;
}

/** The options that the second config has otherwise. */
export function changesBetween(
  before: Config,
  after: Config,
  names: readonly string[],
): OptionChanges {
  const told = (config: Config, name: string): string => JSON.stringify(optionOf(config, name));
  const changed = names.filter((name) => told(before, name) !== told(after, name));
  return Object.fromEntries(changed.map((name) => [name, optionOf(after, name)]));
}

/** A vector as `training.frozen` spells it. */
export function partOf({ parameter, index }: Movable): string {
  if (parameter === "query") return parameter;
  return parameter === "assemblers" ? `${parameter}[:,${index}]` : `${parameter}[${index}]`;
}

/** A clamp as `training.clamps` spells it: equal weights. */
export function clampText({ positions, from, to }: PlannedClamp): string {
  return `attention[${positions.replaceAll(" ", "")}]=1.0@${from}:${to}`;
}

/** Refuses changes with which training could not go on from the end of an epoch. */
export function checkChanges(
  config: Config,
  edits: readonly RunEdit[],
  epoch: number,
  options: OptionChanges,
): void {
  const step = stepsDone(config, edits, epoch);
  const now = configAt(config, [...edits, { epoch, step, options }], epoch).training;
  const batches = [...edits.map((edit) => edit.options ?? {}), options];
  if (now.schedule === "cosine" && batches.some((each) => "training.batch" in each))
    throw new ReadableError(
      "training.batch: cannot change under the schedule 'cosine', whose length is counted in " +
        "steps; use constant or warmup.",
    );
  holdsOf(now.clamps, config.task.length);
}

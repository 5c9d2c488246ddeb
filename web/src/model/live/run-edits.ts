// What was changed in a run on its way, and what follows from that: which options held when, how many
// steps an epoch had. As Python's `edits.py` has it, which is what these are compared with.

import { OPTIONS, UPDATE_SLOTS } from "../kernel/names";
import type { Config, Numbers } from "../types";
import { isValue } from "./live-options";

type OptionName = string; // with its section: "training.lr"

/** One change, once `epoch` epochs and `step` steps were done. */
export interface RunEdit {
  epoch: number;
  step: number;
  parameters?: string; // hash of new weights
  weights?: Numbers; // those
  options?: Readonly<Record<OptionName, unknown>>; // of training, those that changed
}

/** Steps at the end of an epoch, over all epochs. The batch changes only between epochs. */
export function stepsDone(config: Config, edits: readonly RunEdit[], epoch: number): number {
  let [done, since, batch] = [0, 0, config.training.batch];
  const perEpoch = (): number => Math.ceil(config.task.train_size / batch);
  for (const edit of edits) {
    const changed = edit.options?.["training.batch"];
    if (edit.epoch >= epoch || changed === undefined) continue;
    done += (edit.epoch - since) * perEpoch();
    [batch, since] = [Number(changed), edit.epoch];
  }
  return done + (epoch - since) * perEpoch();
}

/** The config with the options that hold from the end of an epoch on. */
export function configAt(config: Config, edits: readonly RunEdit[], epoch: number): Config {
  const done = stepsDone(config, edits, epoch);
  const training: Record<string, unknown> = { ...config.training };
  for (const { step, options = {} } of edits)
    if (step <= done)
      for (const [name, value] of Object.entries(options))
        training[name.slice("training.".length)] = value;
  return { ...config, training: training as unknown as Config["training"] };
}

/** Steps that were done when each slot of the state at the end of an epoch began, at zero. */
export function slotsSince(
  config: Config,
  edits: readonly RunEdit[],
  epoch: number,
): [number, number] {
  const done = stepsDone(config, edits, epoch);
  let rule = config.training.optimizer;
  let since = new Map(UPDATE_SLOTS[rule].map((slot) => [slot, 0]));
  for (const { step, options } of edits) {
    const changed = options?.["training.optimizer"];
    if (step > done || changed === undefined) continue;
    rule = changed as typeof rule;
    since = new Map(UPDATE_SLOTS[rule].map((slot) => [slot, since.get(slot) ?? step]));
  }
  const [first, second] = UPDATE_SLOTS[rule];
  return [since.get(first) ?? 0, (second && since.get(second)) || 0];
}

/** A state [3, size] of one rule as another has it: slots by name, the rest zero. */
export function movedState<State extends Float32Array | Float64Array>(
  state: State,
  before: Config,
  after: Config,
): State {
  const size = state.length / 3;
  const had = UPDATE_SLOTS[before.training.optimizer];
  const moved = state.slice() as State;
  moved.fill(0, size);
  UPDATE_SLOTS[after.training.optimizer].forEach((slot, i) => {
    const from = had.indexOf(slot);
    if (slot && from >= 0)
      moved.set(state.subarray((from + 1) * size, (from + 2) * size), (i + 1) * size);
  });
  return moved;
}

/** The changes that the origin of a stored run tells of: all of them once an option has changed, else
 * the last change of weights. What makes no sense is left out. */
export function editsOf(origin: unknown): RunEdit[] {
  if (typeof origin !== "object" || origin === null) return [];
  const { kind, edits, epoch, step, start } = origin as Record<string, unknown>;
  if (kind !== "branch") return [];
  const told: unknown[] = Array.isArray(edits) ? edits : [{ epoch, step, parameters: start }];
  return told.filter(isEdit);
}

function isEdit(told: unknown): told is RunEdit {
  if (typeof told !== "object" || told === null) return false;
  const { epoch, step, options = {} } = told as Record<string, unknown>;
  const sound = ([name, value]: [string, unknown]): boolean => {
    const option = OPTIONS.find((each) => each.name === name);
    return name.startsWith("training.") && option !== undefined && isValue(option, value);
  };
  const isTold = typeof options === "object" && options !== null;
  return (
    [epoch, step].every(Number.isSafeInteger) && isTold && Object.entries(options).every(sound)
  );
}

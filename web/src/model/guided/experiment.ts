// Guided experiments: a few sentences, something to do, and a check of the answer. A check looks at
// what the page shows and says what it found, with the numbers of that run.

import type { KeptSum } from "../kept-sum";
import type { Config, Numbers } from "../types";
import type { Crossing } from "./crossing";

export interface Experiment {
  name: string; // as links have it
  title: string;
  about: string; // what one will see, in a sentence or two
  uses: "change" | "circuit"; // the card that it needs most, which comes next to its own
  steps: readonly Step[];
}

export interface Step {
  text: readonly string[]; // paragraphs
  action?: { label: string; act: Action };
  task?: StepTask;
}

/** What a button of a step does, for whoever would rather not look for it. */
export type Action =
  | { kind: "train"; options: Readonly<Record<string, unknown>>; seed: number; beside?: boolean }
  | { kind: "ideal" } // opens the ideal head, untrained
  | { kind: "third-token" } // goes on from the last weights of the run, with one more token
  | { kind: "seek"; epoch: number };

/** Something to do in the page, a question with choices, or one whose answer is typed. */
export type StepTask =
  | { do: string; hint: string; check: Check }
  | { ask: string; choices: readonly Choice[] }
  | { type: string; hint: string; label: string; check: Check };

export interface Choice {
  text: string;
  right: boolean;
  why: string; // said once it is chosen
}

export type Check = (seen: readonly ObservedRun[], given: Given) => Outcome;

export interface Given {
  typed: string; // of a question whose answer is typed
  notes: Readonly<Record<string, number>>; // that earlier checks left
}

export interface Outcome {
  done: boolean;
  told: string;
  notes?: Readonly<Record<string, number>>;
}

/** A run on the page, as a check sees it. */
export interface ObservedRun {
  config: Config;
  seed: number;
  epoch: number; // that is shown
  trained: number; // the last one there is
  training: boolean;
  curves: Readonly<Record<string, Numbers>>;
  branchedAt: number | null; // the epoch at which it left its parent
  changed: Changed | null; // by hand, at this epoch
  circuit: { epoch: number; between: number | null; clusters: number | null } | null;
  sum: KeptSum | null; // at this epoch, as far as it is known
}

export interface Changed {
  loss: number | null; // of the train set; null: not computed yet
  positions: readonly number[]; // that get no attention
  crossing: Crossing | null;
}

export const not = (told: string): Outcome => ({ done: false, told });
export const done = (told: string, notes: Outcome["notes"] = {}): Outcome => ({
  done: true,
  told,
  notes,
});

/** The value of a curve at an epoch; NaN: there is none. */
export function curveAt({ curves }: ObservedRun, name: string, epoch: number): number {
  return curves[name]?.[epoch] ?? NaN;
}

/** The run that a person has changed by hand. */
export function changedRun(
  seen: readonly ObservedRun[],
): (ObservedRun & { changed: Changed }) | null {
  const found = seen.find((run) => run.changed !== null);
  return (found as (ObservedRun & { changed: Changed }) | undefined) ?? null;
}

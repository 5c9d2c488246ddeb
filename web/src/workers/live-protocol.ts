// What the page and a worker that trains say to each other.

import type { History } from "../model/live/live-run";
import type { Recipe } from "../model/live/run-recipe";
import type { SeedReport } from "../model/live/seed-run";
import type { RunEdit } from "../model/live/run-edits";
import type { ParameterSlice } from "../model/kernel/model";
import type { Config, Numbers } from "../model/types";

export type ToLiveWorker =
  | { type: "start"; config: Config; seed: number; start: Numbers | null }
  | { type: "goOn"; history: History }
  | { type: "replay"; recipe: Recipe } // trained again to its end, then begun
  | { type: "train"; to: number; pace: number | null } // epochs a second; null: as fast as it goes
  | { type: "pause" }
  | { type: "step"; by: "epoch" | "batch" }
  | { type: "edit"; weights: Numbers }
  | { type: "change"; options: Readonly<Record<string, unknown>> }
  | { type: "history"; epoch: number }
  | { type: "seed"; config: Config; seed: number }; // one of many, of which little is told

export type FromLiveWorker =
  | { type: "began"; parameters: readonly ParameterSlice[]; start: Numbers | null; grown: Grown }
  | { type: "replaying"; epoch: number } // how far that is
  | { type: "grew"; grown: Grown }
  | { type: "history"; history: History }
  | { type: "seed"; report: SeedReport }
  | { type: "failed"; message: string; about: ToLiveWorker["type"] };

/** Epochs that are new, or other than before, from `first` on; and where training is now. */
export interface Grown {
  first: number;
  curves: Numbers; // [new, CURVES]
  weights: Numbers; // [new, size]
  edits: readonly RunEdit[];
  epoch: number; // the last that has ended
  stepInEpoch: number;
  stepsPerEpoch: number;
  between: Numbers | null; // the weights in the middle of an epoch
  diverged: number | null;
  training: boolean; // it goes on by itself
}

// What the server says, as src/dynascope/sandbox/API.md describes it. Only what the client uses is
// spelled out.

import type { SumKind } from "../kernel/names";
import { editsOf } from "../live/run-edits";
import { OWN_DATA } from "../own-data";
import type { Columns, Cell } from "../runs/run-filter";
import type { KernelTask, OwnTask, RunInfo, Task } from "../types";

export interface StoreAnswer {
  api: number;
  dynascope: string;
  name: string;
  runs: number;
  state: string;
  columns: Record<string, string>;
  damage: string[];
  shown: {
    run: string | null;
    beside: string | null;
    epoch: number | null;
    view?: string; // of a file that a page has made: all that it showed, as in an address
  };
  offers: readonly Offer[];
  write?: string; // the key to save with
  live?: boolean; // there are runs in it that were trained in a page: `/api/live`
}

/** What not everybody who answers has: a table of all runs, the curvature when it is asked for, the
 * documentation, a place for runs that were trained in the page. */
export type Offer = "table" | "curvature" | "docs" | "save";

/** What became of a run that was to be saved. */
export interface SavedAnswer {
  id: string;
  epochs: number;
  already: boolean; // it was there before
}

/** The verdict on a run that gets too few sequences right; all others are of solved ones. */
export const UNSOLVED = "unsolved";

/** What Python judges by. */
export interface Thresholds {
  solved_accuracy: number; // above it a run is solved
  clear_gap: number; // from it on clusters are clear
  rounding: number; // of the mean square: a variance below it is none
  sum_share: number; // of the variance, corrected: from it on a sum is kept
  relevant_attention: number; // from it on a plain sum is attentive
}

export interface RunsAnswer {
  state: string;
  count: number;
  left_out: number;
  columns: Columns;
  same: Readonly<Record<string, Cell>>;
  shares: readonly string[]; // columns whose numbers are from 0 to 1
  thresholds: Thresholds;
}

/** One run, with what only the server knows of it. */
export interface RunDetails extends RunInfo {
  stateEpochs: Int32Array;
  sets: Record<"train" | "test", number | null>;
  summary: Record<string, number | null>;
  found: Record<string, unknown>; // columns of analyses; null: not analysed
  thresholds: Thresholds;
  notes: string[]; // why something is missing
}

export interface SpikeCause {
  verdict: string;
  confirmed: boolean | null; // by intervention; null: not tested
  epoch: number;
  step: number;
  steps: number;
}

export interface Spike {
  start: number; // the first epoch above the bound
  peak: number; // the epoch of the highest loss
  duration: number;
  before: number | null; // the level of the loss before
  height: number | null;
  recovery: number | null; // epochs after the peak
  small: boolean; // a rise by less than a factor of two
  cause: SpikeCause | null;
  unexplained: string | null;
  told: { headline: string; lines: string[] }; // what happened in one sentence, then the details
}

export interface Drop {
  epoch: number; // half of the fall is done; 5% at `start`, 95% at `end`
  start: number;
  end: number;
  size: number; // decrease of the logarithm
}

export interface SeenDrop extends Drop {
  seen_by: string[]; // the other methods that see it
}

/** A key moment of a run. */
export interface ToldMoment {
  epoch: number;
  kind: string;
  caption: string;
  text: string;
  panels: string[];
}

export interface Analysis {
  sum: { sum_kind: SumKind; sum_formula: string; told: string; holds: boolean } | null;
  circuit: {
    accuracy: number | null;
    relevant_attention: number | null;
    clusters: number | null;
    expected_clusters: number;
    permutation_survival: number | null;
    suffix_survival: number | null;
    embedding: { between: number; permutation: number; suffix: number; variance: number } | null;
    verdict: {
      name: string;
      margin: number | null;
      decided_by: string;
      breaks_permutation: number[]; // positions, the worst first
      breaks_suffix: number[];
    };
  } | null;
  phases: {
    drops: SeenDrop[];
    by_slope: Drop[];
    clustered_epoch: number | null;
    fitted_epoch: number | null;
    lead: number | null;
    snapshots: {
      before: number;
      clustered: number | null;
      partly_classified: number | null;
      fitted: number | null;
    };
    measured_to: number;
    told: string;
  } | null;
  spikes: { spikes: Spike[]; last_epoch: number; diverged: number | null } | null;
  shares: {
    epochs: number[];
    between: (number | null)[];
    permutation: (number | null)[];
    suffix: (number | null)[];
  } | null;
  story?: ToldMoment[]; // files of earlier versions have none
  notes: Record<string, string>;
  curvature?: CurvatureAt[];
  plateaus?: { start: number; end: number; epoch: number; verdict: unknown; told: string }[];
}

/** Whether a verdict is one of a solved task. */
export const isSolved = (verdict: string): boolean => verdict !== UNSOLVED;

export interface CurvatureAt {
  epoch: number;
  loss: number | null;
  gradient_norm: number | null;
  sharpness: number | null;
  preconditioned: number | null;
  sharpness_limit: number | null;
  unstable: boolean | null;
  spectrum: {
    eigenvalues: (number | null)[];
    tolerance: number;
    negative: number;
    zero: number;
    positive: number;
    complete: boolean;
  };
  told: string;
}

/** `/api/run/ID`, as it comes. */
export interface RunAnswer {
  id: string;
  seed: number;
  epochs: number;
  diverged: number | null;
  last_sound_epoch: number;
  config: RunInfo["config"];
  task:
    | Pick<KernelTask, "name" | "positions">
    | Pick<OwnTask, "name" | "positions" | "classes" | "chance">
    | null; // it cannot be read
  embeddings: number;
  shapes: Record<string, number[]>;
  size: number;
  weight_epochs: number[] | null;
  state_epochs: number[] | null;
  not_replayable: string | null;
  curves: string[];
  sets: RunDetails["sets"] | null;
  origin: unknown;
  tags: string[] | null;
  note: string | null;
  summary: Record<string, number | null>;
  found: Record<string, unknown> | null;
  thresholds: Thresholds;
  notes: string[];
}

/** `/api/run/ID/sequences`. */
export interface SequencesAnswer {
  set: "train" | "test";
  tokens: number[][];
  targets: number[];
}

/** Of a task that cannot be read, nothing is known either. */
function taskOf({ config, embeddings, task }: RunAnswer): Task {
  const { length, vocab } = config.task;
  if (task?.positions) return { name: task.name, length, vocab, positions: task.positions };
  const { classes, chance } = task ?? { classes: embeddings, chance: null };
  return { name: OWN_DATA, length, vocab, positions: null, classes, chance };
}

export function detailsOf(answer: RunAnswer): RunDetails {
  return {
    id: answer.id,
    seed: answer.seed,
    config: answer.config,
    task: taskOf(answer),
    embeddings: answer.embeddings,
    shapes: answer.shapes,
    size: answer.size,
    weightEpochs: Int32Array.from(answer.weight_epochs ?? []),
    stateEpochs: Int32Array.from(answer.state_epochs ?? []),
    notReplayable: answer.not_replayable,
    epochs: answer.epochs,
    diverged: answer.diverged,
    lastSoundEpoch: answer.last_sound_epoch,
    curveNames: answer.curves,
    sets: answer.sets ?? { train: null, test: null },
    tags: answer.tags ?? [],
    note: answer.note ?? "",
    origin: answer.origin,
    edits: editsOf(answer.origin),
    summary: answer.summary,
    found: answer.found ?? {},
    thresholds: answer.thresholds,
    notes: answer.notes,
  };
}

// What the page and its workers say to each other. One makes scenes and owns the run's weights, one
// measures circuits, one looks for the sum that they keep.

import type { KeptSum } from "../model/kept-sum";
import type { Patch } from "../model/scene/patches";
import type { RunDetails } from "../model/server/answers";
import type {
  Extent,
  KernelTask,
  MapPanel,
  Numbers,
  FramedPanel,
  ScenePlan,
  Sequences,
  WeightSource,
} from "../model/types";

export type PanelExtents = Record<FramedPanel, Extent>;

/** Circuit measures of one epoch, as the side shows them. */
export interface CircuitNow {
  epoch: number;
  accuracy: number;
  between: number | null; // null: the sequence embeddings do not vary at all
  permutation: number | null;
  suffix: number | null;
  relevantAttention: number;
  clusters: number | null; // null: no gap is clear
  expectedClusters: number;
  allClustered: boolean; // rather than some groups, where there are many
  permutationSurvival: number;
  suffixSurvival: number;
  exhaustive: boolean;
}

/** The sum that is kept at one epoch. */
export interface SumNow {
  epoch: number;
  sum: KeptSum | null; // null: the sequence embeddings do not vary at all
}

/** The last weights that a run keeps. */
export interface Ending {
  epoch: number;
  weights: Numbers;
}

/** A scene on its way between threads: `sceneOver(plan, buffer)` makes it whole again. */
export interface SceneParts {
  epoch: number;
  source: WeightSource;
  finite: boolean;
  buffer: ArrayBuffer;
  maps: Partial<Record<MapPanel, Extent>>; // those that were made, over what
  weights: Numbers; // of the epoch
  edit: number; // as it was asked for
  held: boolean; // training held the attention at this epoch, and so does the scene
  scores: SetScores | null; // of an edit
}

/** Weights in the place of a run's own, parts that are switched off, and a value from elsewhere. */
export interface WhatIf {
  weights: Numbers;
  cut: { positions: readonly number[]; hidden: readonly number[] };
  patch: Patch | null;
}

/** Mean loss and accuracy on a run's own sets; null: nobody knows the set. */
export type SetScores = Record<"train" | "test", { loss: number; accuracy: number | null } | null>;

export interface SceneRequest {
  epoch: number;
  edit: number; // of what `setWhatIf` was told; 0: the run as it is
  maps: Partial<Record<MapPanel, Extent>>; // those that are visible, over what
}

/** The first message to every worker. */
export interface WorkerStart {
  answers: MessagePort | null; // who answers its questions; null: the server
  server: string; // where that has the runs
}

export type ToWorker =
  | { type: "open"; id: string; sequences: string | null }
  | { type: "openLive"; info: RunDetails; weights: Numbers; sequences: string | null }
  | { type: "grow"; first: number; weights: Numbers; info: RunDetails; between: Numbers | null } // epochs of a live run
  | { type: "sequences"; text: string | null }
  | { type: "scene"; request: SceneRequest; spare: ArrayBuffer | null }
  | { type: "axes" } // those of a run that has grown, and its planes
  | { type: "weights"; epoch: number } // of the run as it is
  | { type: "whatIf"; edit: number; whatIf: WhatIf | null };

export type FromWorker =
  | {
      type: "opened";
      info: RunDetails;
      curves: Record<string, Numbers>;
      sequences: Sequences;
      plan: ScenePlan;
      extents: PanelExtents;
      ending: Ending;
      trouble: string | null;
    }
  | {
      type: "sequences";
      text: string | null;
      sequences: Sequences;
      plan: ScenePlan;
      extents: PanelExtents;
    }
  | { type: "axes"; plan: ScenePlan; extents: PanelExtents }
  | { type: "weights"; epoch: number; weights: Numbers }
  | { type: "scene"; scene: SceneParts }
  | { type: "waiting"; epoch: number } // its weights are on their way; others may be asked for
  | { type: "reached"; epoch: number } // so far, on a long way to what is waited for
  | { type: "notReplayable"; why: string } // as it turned out
  | { type: "error"; message: string; about: ToWorker["type"] };

/** To a worker that measures; its answer is null where that cannot be done, as of weights that are
 * not finite. */
export interface ToMeasureWorker {
  run: RunDetails; // always the same, and so is
  task: KernelTask;
  epoch: number;
  weights: Numbers;
}

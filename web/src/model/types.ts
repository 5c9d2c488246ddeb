// The data that the parts of the client exchange: no behaviour, no DOM.
//
// Positions, epochs, tokens and indices are 0-based. Arrays are row-major, with shapes beside them.

import type { Config, TaskName } from "./kernel/names";
import type { RunEdit } from "./live/run-edits";

export type { Config } from "./kernel/names";
export type Precision = Config["precision"];
export type Numbers = Float32Array | Float64Array;

export interface RunInfo {
  id: string;
  seed: number;
  config: Config;
  task: Task;
  embeddings: number; // rows of E, and so output classes
  shapes: Record<string, number[]>; // parameters in packed order
  size: number; // numbers in one packed row of weights
  weightEpochs: Int32Array; // kept, rising
  notReplayable: string | null; // why other epochs cannot be computed again; null: they can
  epochs: number; // the last epoch that the curves have
  diverged: number | null;
  lastSoundEpoch: number; // the last with finite weights
  curveNames: string[];
  tags: string[];
  note: string;
  origin: unknown;
  edits: readonly RunEdit[]; // what was changed on the way, as far as it is known
}

export interface Run extends RunInfo {
  curves: Record<string, Numbers>;
  /** Packed weights of the nearest kept epoch at or before; throws unless `ready`. */
  weights(epoch: number): Numbers;
  ready(epoch: number): boolean;
}

/** Sequences and what each should give. */
export interface Examples {
  tokens: Int32Array; // [count, length]
  targets: Int32Array; // [count]
}

/** One of the kernel's tasks: what decides which sequences exist and what they should give. */
export interface KernelTask {
  name: TaskName;
  length: number; // N
  vocab: number; // p
  positions: readonly number[]; // relevant, rising
}

/** Data of a user's own: which positions are relevant, and what is alike, nobody has said. */
export interface OwnTask {
  name: "own data";
  length: number;
  vocab: number;
  positions: null;
  classes: number; // of its targets
  chance: number | null; // the accuracy of the best answer that does not look at the sequence
}
export type Task = KernelTask | OwnTask;

/** Sequences that are shown. A prefix is what stands at the relevant positions. Of data of a user's
 * own, nobody knows them: there a group is a class, and has one empty prefix. */
export interface Sequences {
  tokens: Int32Array; // [count, length]
  count: number;
  length: number;
  vocab: number;
  positions: Int32Array | null; // relevant, rising; null: not known
  set: "train" | "test" | null; // of a run's own data, where they are from; null: chosen or typed
  prefix: Int32Array; // [count]: index of its prefix
  prefixes: Int32Array[]; // those of one group side by side
  targets: Int32Array; // [count]: a class; -1: not known
  group: Int32Array; // [count]: group of its prefix
  groupNames: string[]; // "2×1" for p = 2, "0 1 1 2" else; of pairs "01 12"; a class "class 1"
}

/** A rectangle by its sides, in data coordinates or in pixels. */
export interface Extent {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

/** Points in the coordinates of their panel's plane. For d = 1 all y are 0. */
export interface Points {
  x: Float64Array; // [count]
  y: Float64Array; // [count]
  count: number;
}

/** The plane that a panel shows: a point v has the coordinates (a . v, b . v). */
export interface Plane {
  a: Float64Array; // [dim]
  b: Float64Array; // [dim]; all 0 for d = 1
  origin: Float64Array; // [dim]: the point of the plane at (0, 0); all 0 for d <= 2
  shares: [number, number]; // of the variance, that each axis keeps at the last kept epoch
  projected: boolean; // d > 2: say so, with the shares
}

/** Logits of the classes over a rectangle: cell (column, row) is at the cell's centre. */
export interface ClassMap {
  logits: Float32Array; // [height, width, classes]; row 0 is at the bottom (y0)
  width: number;
  height: number;
  classes: number;
  extent: Extent;
}

/** Panels of points, in the order of the data's way through the model. */
export const POINT_PANELS = [
  "tokens", // E [token]
  "positions", // P [position]
  "embeddings", // E + P [token, position]
  "normalized", // z [token, position], with the query
  "values", // V z [token, position]
  "sequence", // xi [sequence]
  "sequence_normalized", // norm(xi) [sequence]
  "receptors", // w [unit]
  "assemblers", // u [unit]
  "feed_forward", // U act(W norm(xi) + b1) + b2 [sequence]
  "output", // psi [sequence]
] as const;
export type PointPanel = (typeof POINT_PANELS)[number];

/** Maps, and the panel whose plane and points they share. */
export const MAP_PANELS = { decision_map: "sequence", output_map: "output" } as const;
export type MapPanel = keyof typeof MAP_PANELS;

/** Hidden units over what they respond to: the panel whose plane and points these share. */
export const UNITS_OVER = "sequence_normalized";
export const UNIT_ENDS = ["receptors", "assemblers"] as const;
export type UnitEnd = (typeof UNIT_ENDS)[number];

/** What has axes of its own: maps have those of their points. */
export const FRAMED_PANELS = [...POINT_PANELS, "neurons"] as const;
export type FramedPanel = (typeof FRAMED_PANELS)[number];

/** Every panel of a run, in the order in which they are laid out. */
export const PANELS = [
  "tokens",
  "positions",
  "embeddings",
  "normalized",
  "attention",
  "values",
  "sequence",
  "decision_map",
  "sequence_normalized",
  "receptors",
  "assemblers",
  "neurons",
  "feed_forward",
  "output",
  "output_map",
  "probabilities",
  "loss",
  "accuracy",
  "gradients",
  "shares",
  "hessian",
] as const;
export type Panel = (typeof PANELS)[number];

/** What a point stands for; of a pair, `index` is that of its token * positions shown + that of its
 * position. */
export type Kind = "token" | "position" | "pair" | "sequence" | "unit";

/** What stays the same over a run: which points there are, and on which planes. */
export interface ScenePlan {
  dim: number;
  length: number; // N
  classes: number; // rows of E
  sequences: number;
  tokens: Int32Array; // rows of E shown in `tokens`
  pairTokens: Int32Array; // tokens of the pairs in `embeddings`, `normalized`, `values`
  positions: Int32Array; // positions shown, alone and in pairs
  units: Int32Array; // hidden units shown in `receptors`, `assemblers`
  hidden: number; // hidden units, or 0 where `Scene.hidden` would be too large
  mapWidth: number;
  mapHeight: number;
  planes: Record<PointPanel, Plane>;
  radius: number | null; // length of a normalised vector; null: they have none in common
}

/** Where weights are from: kept, computed again by the server, or those of the nearest kept epoch
 * before, because the epoch's own are not to be had. */
export type WeightSource = "kept" | "recomputed" | "nearest";

/** All that the panels draw at one epoch. Every array is a view of the one `buffer`. */
export interface Scene {
  epoch: number; // of the weights
  source: WeightSource;
  buffer: ArrayBuffer;
  points: Record<PointPanel, Points>;
  query: Points; // one point, on the plane of `normalized`
  neurons: Record<UnitEnd, Points>; // hidden units, on the plane of UNITS_OVER
  scores: Float64Array; // [sequence, length]: z q / sqrt(d)
  attention: Float64Array; // [sequence, length]
  hidden: Float64Array; // [sequence, units]; empty where it would be too large
  probabilities: Float64Array; // [sequence, classes]
  predictions: Int32Array; // [sequence]: the likeliest class
  norms: Record<"embeddings" | "sequence", Float64Array>; // lengths before normalisation
  maps: Record<MapPanel, ClassMap>; // stale unless asked for
  finite: boolean; // false: the weights have blown up
}

export interface ViewState {
  runs: string[]; // one or two ids
  epoch: number;
  speed: number;
  axes: "fixed" | "follow";
  colour: "multiset" | "sum"; // what sequences have in common that share one
  hidden: string[]; // panels
  big: string | null; // panel
  theme: "auto" | "light" | "dark";
  spike: number | null; // index
  held: number | null; // an epoch that stays on the left while time goes on
  difference: "off" | "on"; // the right half shows how it differs from the left one
  linear: string[]; // panels of curves whose axis is not logarithmic
  sequences: string | null; // as typed; null: chosen
  page: "run" | "runs" | "seeds";
  guide: string | null; // a guided experiment
  mode: "explore" | "present";
  presented: string[]; // panels that are shown then
  sort: string; // a column, "-" before it: falling
  filter: string;
}

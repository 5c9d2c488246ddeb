// One epoch of a run as all panels draw it: the kernel computes, this file picks and projects.
//
// Every panel of points has a plane of its own, fixed over the run: for d <= 2 the space itself,
// for d > 2 the kernel's plane of the panel's points at the last kept epoch. Coordinates are a . v
// and b . v, not centred: the origin stays at (0, 0), so arrows and circles around it mean what
// they show. A map shows the plane of its points, through their mean.

import {
  MAP_PANELS,
  POINT_PANELS,
  UNIT_ENDS,
  UNITS_OVER,
  type Extent,
  type MapPanel,
  type Numbers,
  type Plane,
  type PointPanel,
  type RunInfo,
  type Scene,
  type ScenePlan,
  type Sequences,
} from "../types";
import {
  allFinite,
  centres,
  lengths,
  planeOf,
  project,
  type PlaneMaker,
  type VectorSource,
} from "./projection";
import { countsOf, planeEpoch, planOf, sceneOver, type Planes } from "./scene-plan";

const PAIR_STAGES = ["embedding", "normalized", "values"] as const;
const SEQUENCE_STAGES = [
  "scores",
  "attention",
  "sequence",
  "sequence_normalized",
  "feed_forward",
  "output",
  "probabilities",
] as const;
export type SceneStage = (typeof PAIR_STAGES)[number] | (typeof SEQUENCE_STAGES)[number] | "hidden";

/** What a scene needs of the kernel, for one shape of model; `sceneKernel` makes it. */
export interface SceneKernel extends PlaneMaker {
  readonly offsets: Readonly<Record<string, number>>; // where each parameter begins in packed weights
  forward(
    weights: Numbers,
    tokens: Int32Array,
    stages: readonly SceneStage[],
  ): Record<string, Numbers>;
  /** Logits [y, x, class] where origin + x a + y b takes the place of a stage. */
  grid(
    weights: Numbers,
    at: "sequence" | "output",
    plane: Plane,
    x: Float64Array,
    y: Float64Array,
  ): Numbers;
}

/** Makes scenes of one run. Buffers are used again and again; see `build`. */
export class SceneBuilder {
  readonly plan: ScenePlan;
  private readonly starts: Record<PointPanel, Int32Array>;
  private readonly pairs: Int32Array; // [pairTokens, length]: a token at every position
  private readonly stages: readonly SceneStage[];
  private readonly x: Float64Array;
  private readonly y: Float64Array;

  /** `last`: the weights of `planeEpoch(run)`, which decide the planes. */
  constructor(
    private readonly kernel: SceneKernel,
    private readonly run: RunInfo,
    private readonly sequences: Sequences,
    last: Numbers,
  ) {
    const plan = planOf(run, sequences);
    this.starts = startsOf(plan, kernel.offsets);
    this.pairs = Int32Array.from(
      { length: plan.pairTokens.length * plan.length },
      (_, i) => plan.pairTokens[Math.floor(i / plan.length)]!,
    );
    this.stages = plan.hidden ? [...SEQUENCE_STAGES, "hidden"] : SEQUENCE_STAGES;
    this.x = new Float64Array(plan.mapWidth);
    this.y = new Float64Array(plan.mapHeight);
    this.plan = {
      ...plan,
      planes: this.planesOf(this.sources(last, this.computed(last)), plan.dim),
    };
  }

  /** The scene of these weights. Maps are made for the extents given, the others stay as they were.
   * With `into` its arrays are written over; so two or three scenes, used in turn, are enough. */
  build(
    epoch: number,
    weights: Numbers,
    maps: Partial<Record<MapPanel, Extent>> = {},
    into: Scene = sceneOver(this.plan),
  ): Scene {
    const computed = this.computed(weights);
    const sources = this.sources(weights, computed);
    for (const panel of POINT_PANELS)
      project(into.points[panel], sources[panel], this.plan.planes[panel], this.plan.dim);
    for (const end of UNIT_ENDS)
      project(into.neurons[end], sources[end], this.plan.planes[UNITS_OVER], this.plan.dim);
    this.addQuery(into, weights);
    into.scores.set(computed["scores"]!);
    into.attention.set(computed["attention"]!);
    into.probabilities.set(computed["probabilities"]!);
    if (this.plan.hidden) into.hidden.set(computed["hidden"]!);
    lengths(into.norms.embeddings, sources.embeddings, this.plan.dim);
    lengths(into.norms.sequence, sources.sequence, this.plan.dim);
    choose(into.predictions, into.probabilities, this.plan.classes);
    for (const panel of Object.keys(maps) as MapPanel[])
      this.addMap(into, panel, weights, maps[panel]!);
    into.epoch = epoch;
    into.finite = allFinite(into.probabilities) && allFinite(into.norms.sequence);
    return into;
  }

  private addQuery(into: Scene, weights: Numbers): void {
    const starts = Int32Array.of(this.kernel.offsets["query"]!);
    project(
      into.query,
      { array: weights, starts, step: 1 },
      this.plan.planes.normalized,
      this.plan.dim,
    );
  }

  private addMap(into: Scene, panel: MapPanel, weights: Numbers, extent: Extent): void {
    const map = into.maps[panel];
    centres(this.x, extent.x0, extent.x1);
    centres(this.y, extent.y0, extent.y1);
    const at = MAP_PANELS[panel];
    map.logits.set(this.kernel.grid(weights, at, this.plan.planes[at], this.x, this.y));
    map.extent = { ...extent };
  }

  /** All stages that panels show: of every token at every position, and of the sequences. */
  private computed(weights: Numbers): Record<string, Numbers> {
    const pairs = this.kernel.forward(weights, this.pairs, PAIR_STAGES);
    return { ...pairs, ...this.kernel.forward(weights, this.sequences.tokens, this.stages) };
  }

  private sources(
    weights: Numbers,
    computed: Record<string, Numbers>,
  ): Record<PointPanel, VectorSource> {
    const of = (panel: PointPanel, array: Numbers, step = 1): VectorSource => ({
      array,
      starts: this.starts[panel],
      step,
    });
    return {
      tokens: of("tokens", weights),
      positions: of("positions", weights),
      embeddings: of("embeddings", computed["embedding"]!),
      normalized: of("normalized", computed["normalized"]!),
      values: of("values", computed["values"]!),
      sequence: of("sequence", computed["sequence"]!),
      sequence_normalized: of("sequence_normalized", computed["sequence_normalized"]!),
      receptors: of("receptors", weights),
      assemblers: of("assemblers", weights, this.run.config.model.hidden), // U is [dim, hidden]
      feed_forward: of("feed_forward", computed["feed_forward"]!),
      output: of("output", computed["output"]!),
    };
  }

  private planesOf(sources: Record<PointPanel, VectorSource>, dim: number): Planes {
    const entries = POINT_PANELS.map(
      (panel) => [panel, planeOf(this.kernel, sources[panel], dim)] as const,
    );
    return Object.fromEntries(entries) as Planes;
  }
}

/** The builder of a run whose plane epoch is loaded. */
export function sceneBuilder(
  kernel: SceneKernel,
  run: RunInfo & { weights(epoch: number): Numbers },
  sequences: Sequences,
): SceneBuilder {
  return new SceneBuilder(kernel, run, sequences, run.weights(planeEpoch(run)));
}

function startsOf(
  plan: Omit<ScenePlan, "planes">,
  offsets: SceneKernel["offsets"],
): Record<PointPanel, Int32Array> {
  const { dim, length, positions, units } = plan;
  const counts = countsOf(plan);
  const rows = (name: string, of: Int32Array): Int32Array =>
    of.map((i) => offsets[name]! + i * dim);
  const pairs = Int32Array.from({ length: counts.embeddings }, (_, i) => {
    const [row, column] = [Math.floor(i / positions.length), i % positions.length];
    return (row * length + positions[column]!) * dim;
  });
  const each = Int32Array.from({ length: plan.sequences }, (_, i) => i * dim);
  return {
    tokens: rows("token_embedding", plan.tokens),
    positions: rows("position_embedding", positions),
    embeddings: pairs,
    normalized: pairs,
    values: pairs,
    sequence: each,
    sequence_normalized: each,
    receptors: rows("receptors", units),
    assemblers: units.map((unit) => offsets["assemblers"]! + unit),
    feed_forward: each,
    output: each,
  };
}

/** The likeliest class of each row, the first of equals. */
function choose(out: Int32Array, probabilities: Float64Array, classes: number): void {
  for (let i = 0; i < out.length; i++) {
    let best = 0;
    for (let c = 1; c < classes; c++)
      if (probabilities[i * classes + c]! > probabilities[i * classes + best]!) best = c;
    out[i] = best;
  }
}

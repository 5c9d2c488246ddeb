// What of a run is drawn, decided once: which points there are, and where they lie in one buffer.
//
// A run may have thousands of tokens, positions or hidden units; beyond what a panel can show, some
// are chosen and stay chosen. The limits also bound what a hostile file could cost.

import { lastAtMost } from "../server/stored-run";
import type {
  ClassMap,
  Plane,
  PointPanel,
  Points,
  RunInfo,
  Scene,
  ScenePlan,
  Sequences,
} from "../types";
import { MAP_PANELS, POINT_PANELS } from "../types";

const MOST_TOKENS = 256;
const MOST_POSITIONS = 128;
const MOST_PAIRS = 1024;
const MOST_UNITS = 1024;
const MOST_HIDDEN = 2 ** 18; // numbers in Scene.hidden
const MAP_SIDE = 64; // a millisecond for the default model; drawing interpolates
const MAP_LEAST = 16;
const MAP_NUMBERS = 2 ** 18; // cells * classes of one map
const MAP_WORK = 2 ** 23; // cells * hidden units * dim: a few milliseconds

export type Planes = Record<PointPanel, Plane>;

/** The plan of a run; `planes` are put in by the scene's builder. */
export function planOf(run: RunInfo, sequences: Sequences): Omit<ScenePlan, "planes"> {
  const { dim, hidden } = run.config.model;
  const { length, vocab } = run.config.task;
  const positions = chosen(length, MOST_POSITIONS, run.task.positions ?? []);
  const side = mapSide(run);
  return {
    dim,
    length,
    classes: run.embeddings,
    sequences: sequences.count,
    tokens: chosen(run.embeddings, MOST_TOKENS),
    pairTokens: chosen(vocab, Math.max(1, Math.floor(MOST_PAIRS / positions.length))),
    positions,
    units: chosen(hidden, MOST_UNITS),
    hidden: hidden * sequences.count <= MOST_HIDDEN ? hidden : 0,
    mapWidth: side,
    mapHeight: dim === 1 ? 2 : side, // on a line a map is the same at every height
    radius: radiusOf(run),
  };
}

/** How many points each panel has. */
export function countsOf(plan: Omit<ScenePlan, "planes">): Record<PointPanel, number> {
  const pairs = plan.pairTokens.length * plan.positions.length;
  return {
    tokens: plan.tokens.length,
    positions: plan.positions.length,
    embeddings: pairs,
    normalized: pairs,
    values: pairs,
    sequence: plan.sequences,
    sequence_normalized: plan.sequences,
    receptors: plan.units.length,
    assemblers: plan.units.length,
    feed_forward: plan.sequences,
    output: plan.sequences,
  };
}

/** The kept epoch whose points decide the planes: the last one before a run diverged. */
export function planeEpoch(run: RunInfo): number {
  return run.weightEpochs[lastAtMost(run.weightEpochs, run.lastSoundEpoch)] ?? 0;
}

/** A scene whose arrays are views of `buffer`; a new buffer without one. The arrays hold what the
 * buffer held: a scene crosses to another thread as its buffer and a few numbers. */
export function sceneOver(plan: Omit<ScenePlan, "planes">, buffer?: ArrayBuffer): Scene {
  const counts = countsOf(plan);
  const size = slabs(plan, counts, null);
  const held = buffer && buffer.byteLength === size.bytes ? buffer : new ArrayBuffer(size.bytes);
  return slabs(plan, counts, held).scene!;
}

/** Walks over all arrays of a scene in their order; without a buffer it only counts the bytes. */
function slabs(
  plan: Omit<ScenePlan, "planes">,
  counts: Record<PointPanel, number>,
  buffer: ArrayBuffer | null,
): { bytes: number; scene: Scene | null } {
  let bytes = 0;
  const take = <T>(
    Kind: new (b: ArrayBuffer, at: number, n: number) => T,
    width: number,
    n: number,
  ): T => {
    const at = bytes;
    bytes += n * width;
    return buffer ? new Kind(buffer, at, n) : (undefined as T);
  };
  const doubles = (n: number): Float64Array<ArrayBuffer> => take(Float64Array<ArrayBuffer>, 8, n);
  const points = (count: number): Points => ({ x: doubles(count), y: doubles(count), count });
  const map = (): ClassMap => ({
    logits: take(Float32Array<ArrayBuffer>, 4, plan.mapWidth * plan.mapHeight * plan.classes),
    width: plan.mapWidth,
    height: plan.mapHeight,
    classes: plan.classes,
    extent: { x0: -1, x1: 1, y0: -1, y1: 1 },
  });
  const entries = POINT_PANELS.map((panel) => [panel, points(counts[panel])] as const);
  const scene: Omit<Scene, "buffer"> = {
    epoch: 0,
    source: "kept",
    points: Object.fromEntries(entries) as Record<PointPanel, Points>,
    query: points(1),
    neurons: { receptors: points(counts.receptors), assemblers: points(counts.assemblers) },
    scores: doubles(plan.sequences * plan.length),
    attention: doubles(plan.sequences * plan.length),
    hidden: doubles(plan.sequences * plan.hidden),
    probabilities: doubles(plan.sequences * plan.classes),
    norms: { embeddings: doubles(counts.embeddings), sequence: doubles(plan.sequences) },
    maps: { decision_map: map(), output_map: map() } satisfies Record<
      keyof typeof MAP_PANELS,
      ClassMap
    >,
    predictions: take(Int32Array<ArrayBuffer>, 4, plan.sequences),
    finite: true,
  };
  return { bytes, scene: buffer && { ...scene, buffer } };
}

/** All of 0..count-1, or `most` of them: those `first`, then evenly spread ones; rising. */
function chosen(count: number, most: number, first: readonly number[] = []): Int32Array {
  if (count <= most) return Int32Array.from({ length: count }, (_, i) => i);
  const picked = new Set(first.slice(0, most));
  for (let i = 0; i < most && picked.size < most; i++) picked.add(Math.floor((i * count) / most));
  return Int32Array.from(picked).sort();
}

function mapSide(run: RunInfo): number {
  const { dim, hidden } = run.config.model;
  const cells = Math.min(MAP_SIDE ** 2, MAP_NUMBERS / run.embeddings, MAP_WORK / (hidden * dim));
  return Math.max(MAP_LEAST, Math.floor(Math.sqrt(cells)));
}

function radiusOf(run: RunInfo): number | null {
  const { norm, dim } = run.config.model;
  return norm === "none" ? null : norm === "unit" ? 1 : Math.sqrt(dim);
}

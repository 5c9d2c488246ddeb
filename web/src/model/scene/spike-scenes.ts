// A spike, before and after: which epochs to compare, and how far everything moved between them.

import type { Spike } from "../server/answers";
import { lastAtMost } from "../server/stored-run";
import type { Points, PointPanel, RunInfo, Scene } from "../types";

/** The epochs around a spike, of those that can be shown: all, or the kept ones where no other can be
 * computed again. `before` and `after` are equal only where one epoch is kept. */
export interface SpikeEpochs {
  before: number; // the last one before the loss began to rise
  after: number; // the first one at or after the highest loss
}

/** Where points were, and where they went. */
export interface Displacement {
  x: Float64Array; // before
  y: Float64Array;
  dx: Float64Array;
  dy: Float64Array;
  length: Float64Array;
  farthest: Int32Array; // indices, the one that moved most first; what is not finite is left out
}

export function epochsAround(spike: Pick<Spike, "start" | "peak">, run: RunInfo): SpikeEpochs {
  if (run.notReplayable === null) {
    const before = Math.max(0, spike.start - 1);
    return { before, after: Math.min(run.epochs, Math.max(spike.peak, before + 1)) };
  }
  const kept = run.weightEpochs;
  const before = lastAtMost(kept, spike.start - 1);
  let after = lastAtMost(kept, spike.peak);
  if (after < kept.length - 1 && kept[after]! < spike.peak) after++;
  if (after <= before) after = Math.min(before + 1, kept.length - 1);
  return { before: kept[before] ?? 0, after: kept[after] ?? 0 };
}

/** How the points of a panel moved; both scenes need to be of one plan. */
export function displacement(before: Points, after: Points): Displacement {
  const count = Math.min(before.count, after.count);
  const out = {
    x: before.x.slice(0, count),
    y: before.y.slice(0, count),
    dx: new Float64Array(count),
    dy: new Float64Array(count),
    length: new Float64Array(count),
  };
  for (let i = 0; i < count; i++) {
    out.dx[i] = after.x[i]! - before.x[i]!;
    out.dy[i] = after.y[i]! - before.y[i]!;
    out.length[i] = Math.hypot(out.dx[i]!, out.dy[i]!);
  }
  const sound = Array.from({ length: count }, (_, i) => i).filter((i) =>
    Number.isFinite(out.length[i]!),
  );
  const farthest = Int32Array.from(sound.sort((a, b) => out.length[b]! - out.length[a]! || a - b));
  return { ...out, farthest };
}

/** Sequences whose prediction changed, by index. */
export function changedPredictions(before: Scene, after: Scene): Int32Array {
  const changed: number[] = [];
  for (let i = 0; i < before.predictions.length; i++)
    if (before.predictions[i] !== after.predictions[i]) changed.push(i);
  return Int32Array.from(changed);
}

/** For each panel, how far its points moved (root mean square) over how far they are spread: what
 * moved most is where to look. */
export function movement(before: Scene, after: Scene): { panel: PointPanel; share: number }[] {
  const panels = Object.keys(before.points) as PointPanel[];
  return panels
    .map((panel) => ({ panel, share: relative(before.points[panel], after.points[panel]) }))
    .sort((a, b) => b.share - a.share);
}

function relative(before: Points, after: Points): number {
  const { length } = displacement(before, after);
  const spread = Math.hypot(deviation(before.x), deviation(before.y));
  const moved = Math.sqrt(
    length.reduce((sum, each) => sum + each * each, 0) / Math.max(1, length.length),
  );
  return moved === 0 ? 0 : spread > 0 && Number.isFinite(moved) ? moved / spread : Infinity;
}

function deviation(values: Float64Array): number {
  const mean = values.reduce((sum, each) => sum + each, 0) / Math.max(1, values.length);
  return Math.sqrt(
    values.reduce((sum, each) => sum + (each - mean) ** 2, 0) / Math.max(1, values.length),
  );
}

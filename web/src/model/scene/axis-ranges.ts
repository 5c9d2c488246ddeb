// Axes: over a whole run, or following the points smoothly. In both, one unit has the same length
// in x and in y.

import type { Extent, Points } from "../types";

const PADDING = 0.08; // of the size, on each side
const TAIL = 0.05; // of the sampled epochs, at each end, may be blow-ups
const BEYOND = 0.5; // of the size: how far such epochs may still stretch an axis
const ROOM = 0.2; // around the points when a followed axis sets out anew: it can rest the longer
const SMALL = 0.45; // of the axis: points that take up less make it close in
const TAU = 180; // milliseconds in which a followed axis does 63% of its way

export const NOTHING: Readonly<Extent> = {
  x0: Infinity,
  x1: -Infinity,
  y0: Infinity,
  y1: -Infinity,
};

/** Widens `out` to hold the points; those that are not finite do not count. */
export function include(out: Extent, points: Points): Extent {
  const { x, y, count } = points;
  for (let i = 0; i < count; i++) {
    const [px, py] = [x[i]!, y[i]!];
    if (!Number.isFinite(px) || !Number.isFinite(py)) continue;
    if (px < out.x0) out.x0 = px;
    if (px > out.x1) out.x1 = px;
    if (py < out.y0) out.y0 = py;
    if (py > out.y1) out.y1 = py;
  }
  return out;
}

/** Widens an extent to hold a circle around the origin; a radius of 0 is the origin itself. */
export function includeCircle(out: Extent, radius: number): Extent {
  out.x0 = Math.min(out.x0, -radius);
  out.x1 = Math.max(out.x1, radius);
  out.y0 = Math.min(out.y0, -radius);
  out.y1 = Math.max(out.y1, radius);
  return out;
}

export function union(a: Extent, b: Extent): Extent {
  return {
    x0: Math.min(a.x0, b.x0),
    x1: Math.max(a.x1, b.x1),
    y0: Math.min(a.y0, b.y0),
    y1: Math.max(a.y1, b.y1),
  };
}

export function isEmpty(extent: Extent): boolean {
  return !(extent.x1 >= extent.x0 && extent.y1 >= extent.y0);
}

/** Up to `most` kept epochs spread evenly over a run, the first and the last among them. */
export function sampledEpochs(kept: ArrayLike<number>, most = 64): number[] {
  const count = Math.min(kept.length, most);
  return Array.from(
    { length: count },
    (_, i) =>
      kept[count === 1 ? kept.length - 1 : Math.round((i * (kept.length - 1)) / (count - 1))]!,
  );
}

/** One extent for all epochs of a run: blow-ups of a few epochs stretch it by half at most. */
export function overRun(extents: readonly Extent[]): Extent {
  const sound = extents.filter((extent) => !isEmpty(extent));
  if (sound.length === 0) return { x0: -1, x1: 1, y0: -1, y1: 1 };
  const [x0, x1] = robust(
    sound.map((e) => e.x0),
    sound.map((e) => e.x1),
  );
  const [y0, y1] = robust(
    sound.map((e) => e.y0),
    sound.map((e) => e.y1),
  );
  return { x0, x1, y0, y1 };
}

/** The extent with room around it, grown to width / height = `aspect` at equal units. */
export function framed(extent: Extent, aspect = 1, padding = PADDING): Extent {
  if (isEmpty(extent)) return framed({ x0: -1, x1: 1, y0: -1, y1: 1 }, aspect, padding);
  const { x0, x1, y0, y1 } = extent;
  const magnitude = Math.max(Math.abs(x0), Math.abs(x1), Math.abs(y0), Math.abs(y1));
  const least = magnitude > 0 ? magnitude * 1e-3 : 1; // a single point has a size too
  const height = Math.max(y1 - y0, (x1 - x0) / aspect, least) * (1 + 2 * padding);
  const [cx, cy] = [x0 + (x1 - x0) / 2, y0 + (y1 - y0) / 2];
  const [w, h] = [(height * aspect) / 2, height / 2];
  return { x0: cx - w, x1: cx + w, y0: cy - h, y1: cy + h };
}

/** Where a followed axis should stand: where it stands as long as the points fill it well. Axes that
 * move all the time hide how the points move. */
export function settled(held: Extent | null, points: Extent, aspect = 1): Extent {
  if (held === null) return framed(points, aspect);
  const [width, height] = [held.x1 - held.x0, held.y1 - held.y0];
  const shape = Math.abs(width / height - aspect) < 1e-3 * aspect;
  if (shape && isEmpty(points)) return held;
  const needed = framed(points, aspect, 0);
  const filled = needed.x1 - needed.x0 >= SMALL * width;
  return shape && filled && holds(held, points) ? held : framed(points, aspect, ROOM);
}

const holds = (a: Extent, b: Extent): boolean =>
  b.x0 >= a.x0 && b.x1 <= a.x1 && b.y0 >= a.y0 && b.y1 <= a.y1;

/** One frame of following: `current` moved towards `target` by what `ms` milliseconds allow.
 *
 * The size changes geometrically (a thousandfold zoom is a smooth one), and the bounds move with
 * it along straight lines, so that nothing overshoots. */
export function movedTowards(current: Extent | null, target: Extent, ms: number): Extent {
  if (current === null || isEmpty(current)) return { ...target };
  const share = 1 - Math.exp(-Math.max(0, ms) / TAU);
  const [from, to] = [current.x1 - current.x0, target.x1 - target.x0];
  const grown = from > 0 && to > 0 ? from * (to / from) ** share : from + (to - from) * share;
  const zoom = Math.abs(to - from) > 1e-3 * from ? (grown - from) / (to - from) : share;
  const step = Math.min(1, Math.max(0, zoom));
  const move = (a: number, b: number): number => {
    const next = a + (b - a) * step;
    return Math.abs(b - next) < 1e-4 * to ? b : next; // arrives, so that drawing can stop
  };
  return {
    x0: move(current.x0, target.x0),
    x1: move(current.x1, target.x1),
    y0: move(current.y0, target.y0),
    y1: move(current.y1, target.y1),
  };
}

export function sameExtent(a: Extent, b: Extent): boolean {
  return a.x0 === b.x0 && a.x1 === b.x1 && a.y0 === b.y0 && a.y1 === b.y1;
}

function robust(low: number[], high: number[]): [number, number] {
  low.sort((a, b) => a - b);
  high.sort((a, b) => a - b);
  const skip = Math.floor(TAIL * low.length);
  const [from, to] = [low[skip]!, high[high.length - 1 - skip]!];
  const beyond = BEYOND * Math.max(to - from, 0);
  return [Math.max(low[0]!, from - beyond), Math.min(high[high.length - 1]!, to + beyond)];
}

// Names to put beside points, and beside the sequences of each multiset.

import type { Label } from "../labels";
import type { Palette } from "../model/colours";
import { NOTHING } from "../model/ranges";
import type { Extent, Sequences } from "../model/types";

const FAR = 14; // pixels from the middle of many points to where their name may begin
const GAP = 3;

/** Where points are on the screen. */
export interface Places {
  xs: Float64Array;
  ys: Float64Array;
}

/** A name beside a point, or beside many; of those that lie far apart, beside their middle. */
export function beside(
  [id, text]: readonly [number, string],
  x: number,
  y: number,
  radius: number,
  extent: Extent = { x0: x, x1: x, y0: y, y1: y },
): Label {
  const side = (far: number): number => radius + Math.min(FAR, Math.max(0, far));
  const reach = {
    x0: x - side(x - extent.x0),
    x1: x + side(extent.x1 - x),
    y0: y - side(y - extent.y0),
    y1: y + side(extent.y1 - y),
  };
  return { id, text, x, y, reach, gap: GAP };
}

export function besidePoints(
  texts: readonly (string | null)[],
  { xs, ys }: Places,
  radius: number,
  shown: (index: number) => boolean,
): Label[] {
  return Array.from(xs).flatMap((x, i) => {
    const text = texts[i];
    return text && shown(i) ? [beside([i, text], x, ys[i]!, radius)] : [];
  });
}

/** One name for each multiset, in the colour of its sequences. */
export function besideGroups(
  { group, groupNames }: Sequences,
  { xs, ys }: Places,
  radius: number,
  palette: Palette,
): Label[] {
  const sums = groupNames.map(() => ({ x: 0, y: 0, n: 0, extent: { ...NOTHING } }));
  for (let i = 0; i < xs.length; i++) {
    const sum = sums[group[i]!]!;
    sum.x += xs[i]!;
    sum.y += ys[i]!;
    sum.n += 1;
    widen(sum.extent, xs[i]!, ys[i]!);
  }
  return sums.flatMap(({ x, y, n, extent }, id) => {
    if (!n || !Number.isFinite(x + y)) return [];
    const label = beside([id, groupNames[id]!], x / n, y / n, radius, extent);
    return [{ ...label, colour: palette.group(id, groupNames.length) }];
  });
}

function widen(extent: Extent, x: number, y: number): void {
  extent.x0 = Math.min(extent.x0, x);
  extent.x1 = Math.max(extent.x1, x);
  extent.y0 = Math.min(extent.y0, y);
  extent.y1 = Math.max(extent.y1, y);
}

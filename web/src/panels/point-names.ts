// Names to put beside points, and beside the sequences of each multiset.

import type { Label } from "../drawing/labels";
import type { Palette } from "../model/palette";
import { NOTHING } from "../model/scene/axis-ranges";
import type { Extent, Sequences } from "../model/types";

const FAR = 14; // pixels from the middle of many points to where their name may begin
const GAP = 3;
const WIDEST = 1 / 3; // of a panel: points spread over more than this have no place for one name
const NEAREST = 25; // pixels: a name farther from all its points would be read as another's

/** Where points are on the screen. */
export interface Places {
  xs: Float64Array;
  ys: Float64Array;
}

/** A name beside a point, or beside many; of those that lie far apart, beside their middle. */
export function nameBeside(
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

export function namesOfPoints(
  texts: readonly (string | null)[],
  { xs, ys }: Places,
  radius: number,
  shown: (index: number) => boolean,
): Label[] {
  return Array.from(xs).flatMap((x, i) => {
    const text = texts[i];
    return text && shown(i) ? [nameBeside([i, text], x, ys[i]!, radius)] : [];
  });
}

/** One name for each multiset whose points are together, in the colour of its sequences. */
export function namesOfGroups(
  sequences: Sequences,
  { xs, ys }: Places,
  radius: number,
  palette: Palette,
  size: { width: number; height: number },
  shown: (index: number) => boolean = () => true, // rather than faded
): Label[] {
  const { group, groupNames } = sequences;
  const widest = WIDEST * Math.min(size.width, size.height);
  return clusters(group, groupNames.length, xs, ys, shown).flatMap(
    ({ n, x, y, far, near, extent, kept }, id) => {
      if (!n || 2 * Math.sqrt(far / n) > widest || near > NEAREST * NEAREST) return [];
      const label = nameBeside([id, groupNames[id]!], x, y, radius, extent);
      const colour = kept ? palette.groupOf(sequences, id) : palette.colours.faint;
      return [{ ...label, colour }];
    },
  );
}

/** Points of one multiset: how many, their middle, the sum of the squared distances from it, and
 * the least of them. Not one point but many tell how far they spread: a stray one does not count. */
interface Cluster {
  n: number;
  x: number;
  y: number;
  far: number;
  near: number;
  extent: Extent;
  kept: boolean; // not all of them are faded
}

function clusters(
  group: Int32Array,
  groups: number,
  xs: Float64Array,
  ys: Float64Array,
  shown: (index: number) => boolean,
): Cluster[] {
  const all = Array.from({ length: groups }, (): Cluster => ({
    n: 0,
    x: 0,
    y: 0,
    far: 0,
    near: Infinity,
    extent: { ...NOTHING },
    kept: false,
  }));
  for (let i = 0; i < xs.length; i++) {
    if (!Number.isFinite(xs[i]! + ys[i]!)) continue;
    const each = all[group[i]!]!;
    each.n += 1;
    each.x += (xs[i]! - each.x) / each.n;
    each.y += (ys[i]! - each.y) / each.n;
    each.kept ||= shown(i);
    widen(each.extent, xs[i]!, ys[i]!);
  }
  for (let i = 0; i < xs.length; i++) {
    if (!Number.isFinite(xs[i]! + ys[i]!)) continue;
    const each = all[group[i]!]!;
    const far = (xs[i]! - each.x) ** 2 + (ys[i]! - each.y) ** 2;
    each.far += far;
    each.near = Math.min(each.near, far);
  }
  return all;
}

function widen(extent: Extent, x: number, y: number): void {
  extent.x0 = Math.min(extent.x0, x);
  extent.x1 = Math.max(extent.x1, x);
  extent.y0 = Math.min(extent.y0, y);
  extent.y1 = Math.max(extent.y1, y);
}

// Labels beside points, placed one after another where nothing is in the way.
//
// A label keeps the side it had in the frame before as long as that is free: text that hops from
// side to side while time runs is worse than a missing label. Nor does it stand where it would be
// read as another's: of all middles its own is the nearest.

import type { Extent } from "../model/types";
import { textWidth } from "./text";

export interface Label {
  id: number; // the same from frame to frame
  text: string;
  x: number; // the middle of what it names
  y: number;
  reach: Extent; // how far that extends
  gap: number; // from there to the text
  colour?: string; // the ink, unless told
}

export interface Placed extends Label {
  left: number;
  middle: number; // of the text's height
}

/** Sides in the order of liking: right, left, above, below, then the corners. */
const SIDES: readonly (readonly [number, number])[] = [
  [1, 0],
  [-1, 0],
  [0, -1],
  [0, 1],
  [1, -1],
  [1, 1],
  [-1, -1],
  [-1, 1],
];

export class Placer {
  private sides = new Map<number, number>();

  /** Those labels that find a place inside the box, clear of each other and of the points. */
  place(labels: readonly Label[], bounds: Extent, points: readonly Extent[], size = 10): Placed[] {
    const taken: Extent[] = [];
    const placed: Placed[] = [];
    const sides = new Map<number, number>();
    for (const label of labels) {
      const last = this.sides.get(label.id);
      const order = last === undefined ? SIDES.keys() : [last, ...SIDES.keys()];
      for (const side of order) {
        const box = boxOf(label, SIDES[side] ?? [1, 0], size);
        if (!inside(box, bounds) || taken.some((other) => meet(box, other))) continue;
        if (points.some((other) => meet(box, other))) continue;
        const near = distance(box, label);
        if (labels.some((other) => distance(box, other) < near)) continue;
        taken.push(box);
        sides.set(label.id, side);
        placed.push({ ...label, left: box.x0, middle: (box.y0 + box.y1) / 2 });
        break;
      }
    }
    this.sides = sides;
    return placed;
  }
}

function boxOf(label: Label, side: readonly [number, number], size: number): Extent {
  const width = textWidth(label.text, { size, bold: true }) + 2;
  const { reach } = label;
  const gap = side[0] && side[1] ? 0.4 * label.gap : label.gap;
  const x = [reach.x0 - gap - width, label.x - width / 2, reach.x1 + gap][side[0] + 1]!;
  const y = [reach.y0 - gap - size, label.y - size / 2, reach.y1 + gap][side[1] + 1]!;
  return { x0: x, y0: y, x1: x + width, y1: y + size };
}

/** Squared, from a box to the middle of what a label names. */
function distance(box: Extent, { x, y }: Label): number {
  const [dx, dy] = [Math.max(box.x0 - x, 0, x - box.x1), Math.max(box.y0 - y, 0, y - box.y1)];
  return dx * dx + dy * dy;
}

const meet = (a: Extent, b: Extent): boolean =>
  a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;

const inside = (a: Extent, b: Extent): boolean =>
  a.x0 >= b.x0 && a.x1 <= b.x1 && a.y0 >= b.y0 && a.y1 <= b.y1;

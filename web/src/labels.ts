// Labels beside points, placed one after another where nothing is in the way.
//
// A label keeps the side it had in the frame before as long as that is free: text that hops from
// side to side while time runs is worse than a missing label.

import { textWidth } from "./pen";

export interface Label {
  id: number; // the same from frame to frame
  text: string;
  x: number;
  y: number;
  gap: number; // from the point's middle to the text
  colour?: string; // the ink, unless told
}

export interface Placed extends Label {
  left: number;
  middle: number; // of the text's height
}

interface Box {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
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
  place(labels: readonly Label[], bounds: Box, points: readonly Box[], size = 10): Placed[] {
    const taken: Box[] = [];
    const placed: Placed[] = [];
    const sides = new Map<number, number>();
    for (const label of labels) {
      const last = this.sides.get(label.id);
      const order = last === undefined ? SIDES.keys() : [last, ...SIDES.keys()];
      for (const side of order) {
        const box = boxOf(label, SIDES[side] ?? [1, 0], size);
        if (!inside(box, bounds) || taken.some((other) => meet(box, other))) continue;
        if (points.some((other) => meet(box, other))) continue;
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

function boxOf(label: Label, side: readonly [number, number], size: number): Box {
  const width = textWidth(label.text, { size, bold: true }) + 2;
  const slack = side[0] && side[1] ? 0.7 * label.gap : label.gap;
  const x = label.x + side[0] * slack + (side[0] < 0 ? -width : side[0] === 0 ? -width / 2 : 0);
  const y = label.y + side[1] * (slack + size / 2) - size / 2;
  return { x0: x, y0: y, x1: x + width, y1: y + size };
}

const meet = (a: Box, b: Box): boolean => a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;

const inside = (a: Box, b: Box): boolean =>
  a.x0 >= b.x0 && a.x1 <= b.x1 && a.y0 >= b.y0 && a.y1 <= b.y1;

// Where a tooltip goes: beside what it explains, never over it, never out of the window.

import type { Extent } from "../model/types";

const APART = 6; // pixels between the two
const EDGE = 8; // pixels to the window's edge

export interface Size {
  width: number;
  height: number;
}

export interface Place {
  x: number;
  y: number;
  height: number; // at most: less than wanted only where there is no room for all of it
}

/** Below, if there is room, else above, else at a side; else where there is most, as much as fits.
 * A row of a list prefers the side: the rows around it are looked at too. */
export function placeBeside(
  target: Extent,
  { width, height }: Size,
  window: Size,
  isRow = false,
): Place {
  const x = within(target.x0, EDGE, window.width - EDGE - width);
  const y = within(target.y0, EDGE, window.height - EDGE - height);
  const below = window.height - EDGE - (target.y1 + APART);
  const above = target.y0 - APART - EDGE;
  const high = height <= window.height - 2 * EDGE;
  const over: (Place | false)[] = [
    height <= below && { x, y: target.y1 + APART, height },
    height <= above && { x, y: target.y0 - APART - height, height },
  ];
  const aside: (Place | false)[] = [
    high && target.x1 + APART + width <= window.width - EDGE && { x: target.x1 + APART, y, height },
    high && target.x0 - APART - width >= EDGE && { x: target.x0 - APART - width, y, height },
  ];
  const fitting = (isRow ? [...aside, ...over] : [...over, ...aside]).find((place) => place);
  if (fitting) return fitting;
  const room = Math.max(below, above, 0);
  return { x, y: below >= above ? target.y1 + APART : target.y0 - APART - room, height: room };
}

/** Of two limits that exclude each other the first counts. */
function within(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}

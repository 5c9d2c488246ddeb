// Moving a vector by its point: what the plane does not show of it stays.

import type { Plane } from "../model/types";
import { isWithinEpoch, playing, type Slot } from "../state/page-state";
import { moveVector, vectorNow } from "../state/what-if";
import type { Grabbed } from "./painter";

const LEAST = 3; // pixels: less is a click

/** Not a moment that only stands beside another. */
export const canMove = (slot: Slot): boolean =>
  slot.role === "run" && !playing.value && !isWithinEpoch(slot);

export class Drag {
  private readonly start: Float64Array | null;
  private readonly plane: Plane;
  private begun = false;

  constructor(
    private readonly slot: Slot,
    private readonly grabbed: Grabbed,
    private readonly x: number,
    private readonly y: number,
  ) {
    this.start = vectorNow(slot, grabbed.movable);
    this.plane = slot.plan.value.planes[grabbed.panel];
  }

  /** Whether the vector was moved: a hand that shakes moves none. */
  to(x: number, y: number): boolean {
    if (!this.begun && Math.hypot(x - this.x, y - this.y) < LEAST) return false;
    const { at, movable } = this.grabbed;
    const [from, to] = [at(this.x, this.y), at(x, y)];
    const { a, b } = this.plane;
    const vector = this.start?.map(
      (value, i) => value + (to.x - from.x) * (a[i] ?? 0) + (to.y - from.y) * (b[i] ?? 0),
    );
    if (vector) moveVector(this.slot, movable, vector, this.begun);
    this.begun = true;
    return true;
  }
}

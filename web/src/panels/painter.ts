// What a panel knows: how to draw itself in two layers, what lies under the pointer, its numbers.

import type { Box } from "../drawing/axes";
import type { Pen } from "../drawing/pen";
import type { Active, Mark } from "../model/marks";
import type { Palette } from "../model/palette";
import type { Movable } from "../model/live/weight-edits";
import type { PointPanel, Scene, ViewState } from "../model/types";
import type { Slot } from "../state/page-state";

export interface Frame {
  width: number;
  height: number;
  ratio: number; // device pixels for each of these
  big: boolean;
  slot: Slot;
  scene: Scene | null;
  epoch: number; // of the playhead
  time: number; // milliseconds of a clock that axes glide by
  axes: ViewState["axes"];
  together: readonly Slot[]; // all that is on the stage: two moments of one run share axes
  mark: Mark | null;
  palette: Palette;
  difference: boolean; // from `slot.from`, or in curves from the slot beside it
}

/** A vector that a person has taken hold of. */
export interface Grabbed {
  movable: Movable;
  panel: PointPanel; // whose plane it is moved on
  /** The place on the plane of a pixel. */
  at(x: number, y: number): { x: number; y: number };
}

export interface Painter {
  /** What the lower layer depends on: it is drawn again only when this changes. */
  key(frame: Frame): string;
  back(pen: Pen, frame: Frame): void;
  front(pen: Pen, frame: Frame): void;
  /** What is under these pixels, after `front`. */
  pick?(x: number, y: number, frame: Frame): Mark | null;
  /** The vector under these pixels that can be moved, and how pixels become places on its plane. */
  grab?(x: number, y: number, frame: Frame): Grabbed | null;
  /** Whether the picture is still on its way and wants another frame. */
  moving?(): boolean;
}

/** A hidden unit is active for a sequence when its activation is above 0; GELU's is never quite 0. */
export function activeIn({ scene, slot }: Frame): Active | undefined {
  const { hidden } = slot.plan.value;
  return scene && hidden
    ? (sequence, unit) => (scene.hidden[sequence * hidden + unit] ?? 0) > 0
    : undefined;
}

/** What the scene is compared with, where differences are to be seen. */
export function baseOf({ slot, difference }: Frame): Scene | null {
  return difference ? slot.from.value : null;
}

export const plotBox = (frame: Frame, left = 32, bottom = 20, top = 6, right = 9): Box => ({
  x: left,
  y: top,
  width: Math.max(8, frame.width - left - right),
  height: Math.max(8, frame.height - top - bottom),
});

// Presenting: a few large panels and the time bar, for a room. Which panels is part of the view.

import { computed } from "@preact/signals";
import type { Panel } from "../model/types";
import { change, seen, toggled } from "./page-state";

/** Whether a run is being presented. */
export const presenting = computed(
  () => seen.mode.value === "present" && seen.page.value === "run",
);

/** How much larger than usual a picture of this size is drawn, type and markers and all: so that it
 * is no more crowded than a small panel. */
export function drawnScale(height: number, usual: number, present = presenting.value): number {
  return present ? Math.max(1, Math.min(3, height / usual)) : 1;
}

const USUAL = { width: 250, height: 175 }; // pixels that a panel's picture has on a laptop

/** The same of a panel's picture. */
export function pictureScale(width: number, height: number, present: boolean): number {
  return Math.min(
    drawnScale(width, USUAL.width, present),
    drawnScale(height, USUAL.height, present),
  );
}

export function togglePresenting(): void {
  change({ mode: seen.mode.value === "present" ? "explore" : "present", page: "run" });
}

/** Shows a panel in presentations, or leaves it out. */
export function togglePresented(panel: Panel): void {
  change({ presented: toggled(seen.presented.value, panel) });
}

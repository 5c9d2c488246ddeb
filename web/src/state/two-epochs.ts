// Two epochs of one run side by side: the left one stays, the right one is the playhead's.

import { computed } from "@preact/signals";
import { change, epoch, runsBeside, seen } from "./page-state";

/** Whether an epoch is held; the view of a spike holds one of its own. */
export const holding = computed(
  () => seen.held.value !== null && seen.spike.value === null && seen.runs.value.length === 1,
);

/** Whether there is room for a second epoch: two runs, or a spike, take it. */
export const canHold = computed(() => seen.spike.value === null && !runsBeside.value);

/** Keeps the epoch that is shown, or another one, on the left. */
export function hold(held = epoch.value): void {
  if (canHold.value) change({ held });
}

export function release(): void {
  change({ held: null });
}

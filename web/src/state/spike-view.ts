// To a spike of the loss, and into the view that shows it before and after.

import type { Spike } from "../model/server/answers";
import { change, epoch, firstSlot, seek, seen, type Slot } from "./page-state";

export const spikesOf = (slot: Slot | null | undefined): readonly Spike[] =>
  slot?.analysis.value?.spikes?.spikes ?? [];

/** To the next spike after the playhead, or around to the first; in the spike view, that spike's. */
export function nextSpike(): void {
  const found = spikesOf(firstSlot.value);
  if (!found.length) return;
  const next = found.findIndex((spike) => spike.peak > epoch.value);
  const index = next < 0 ? 0 : next;
  if (seen.spike.value !== null) showSpike(index);
  else seek(found[index]!.peak);
}

export function showSpike(index: number): void {
  const spike = spikesOf(firstSlot.value)[index];
  if (spike)
    change({
      spike: index,
      epoch: spike.peak,
      runs: seen.runs.value.slice(0, 1),
      big: null,
      held: null,
    });
}

// The story of a run: to one of its moments, and which panels are marked because it speaks of them.

import { computed, effect, signal } from "@preact/signals";
import { momentAt, momentsOf } from "../model/run-story";
import type { Panel } from "../model/types";
import { change, epoch, firstSlot, runsBeside, type Slot } from "./page-state";

const MARKED_FOR = 2600; // milliseconds: to find the panel, and then to look at it

export const moments = computed(() => momentsOf(firstSlot.value?.analysis.value));
const chosen = signal<number | null>(null);
const spotlight = signal<readonly Panel[]>([]);

/** The moment that the playhead is at or past; -1: none. */
export const currentMoment = computed(() => momentAt(moments.value, epoch.value, chosen.value));

/** To a moment, out of the view of a spike. */
export function showMoment(index: number): void {
  const moment = moments.value[index];
  if (!moment) return;
  chosen.value = index;
  spotlight.value = [...moment.panels]; // a new list, so that the same moment marks again
  change({ epoch: moment.epoch, spike: null });
}

/** Whether a panel is marked; of two runs, the story is that of the left one. */
export const isMarked = (panel: Panel, slot: Slot): boolean =>
  spotlight.value.includes(panel) && !(runsBeside.value && slot.index > 0);

/** What is marked is so for a while; another run has another story. */
export function keepStory(): void {
  effect(() => {
    if (!spotlight.value.length) return;
    const timer = setTimeout(() => (spotlight.value = []), MARKED_FOR);
    return () => clearTimeout(timer);
  });
  effect(() => {
    void firstSlot.value?.info.id;
    spotlight.value = [];
    chosen.value = null;
  });
}

// The key moments of a run, as the analysis tells them: which are there, and which one it is now.

import type { Analysis, ToldMoment } from "./server/answers";
import { PANELS, type Panel } from "./types";

export type StoryMoment = Omit<ToldMoment, "panels"> & { panels: readonly Panel[] };

/** Files of earlier versions have no story; one of a later version may name panels that are not known
 * here. */
export function momentsOf(analysis: Analysis | null | undefined): StoryMoment[] {
  const named = new Set<string>(PANELS);
  const known = (panel: string): panel is Panel => named.has(panel);
  return (analysis?.story ?? []).map((told) => ({ ...told, panels: told.panels.filter(known) }));
}

/** The last moment that an epoch has come to; of several of one epoch the one that was `chosen`. -1:
 * there is none yet. */
export function momentAt(
  moments: readonly StoryMoment[],
  epoch: number,
  chosen: number | null = null,
): number {
  if (chosen !== null && moments[chosen]?.epoch === epoch) return chosen;
  return moments.findLastIndex((moment) => moment.epoch <= epoch);
}

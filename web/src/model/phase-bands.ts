// The phases of a run as stretches of its time.

import { isSolved, UNSOLVED, type Analysis } from "./server/answers";

export interface PhaseBand {
  from: number;
  to: number;
  name: string;
  phase: number; // index of its colour
}

/** From the four pictures that tell the story: what never happened has no stretch, and what nobody
 * could tell apart has none at all. */
export function phaseBands(analysis: Analysis, last: number): PhaseBand[] {
  if (!analysis.phases) return [];
  const pictures: Record<string, number | null> = analysis.phases.snapshots;
  const solved = isSolved(analysis.circuit?.verdict.name ?? UNSOLVED);
  const cuts = [
    { at: 0, name: "before", phase: 0 },
    { at: pictures["clustered"], name: "clustered", phase: 1 },
    { at: pictures["partly_classified"], name: "fitting", phase: 2 },
    { at: pictures["fitted"], name: solved ? "solved" : "settled", phase: 3 },
  ].flatMap((cut) => (typeof cut.at === "number" ? [{ ...cut, at: cut.at }] : []));
  return cuts.map(({ at, name, phase }, i) => ({
    from: at,
    to: cuts[i + 1]?.at ?? last,
    name,
    phase,
  }));
}

// The phases of a run as stretches of its time.

import { isSolved, UNSOLVED, type Analysis } from "./server/answers";

/** Why a run has no phases to show, in a sentence; null where it has. */
export function phasesUnknown(analysis: Analysis): string | null {
  if (phaseBands(analysis).length) return null;
  return analysis.phases?.told ?? analysis.notes["phases"] ?? "They could not be told apart.";
}

export interface PhaseBand {
  from: number;
  to: number;
  name: string;
  phase: number; // index of its colour
}

/** The stretch that an epoch is in. */
export function phaseAt(analysis: Analysis, epoch: number): PhaseBand | undefined {
  return phaseBands(analysis).findLast(({ from, to }) => from <= epoch && epoch <= to);
}

/** From the four pictures that tell the story: what never happened has no stretch. Where nothing can
 * be told apart, there is none at all: a run is not "before" something that is not known to come. The
 * last stretch ends where the run was last measured. */
export function phaseBands(analysis: Analysis): PhaseBand[] {
  if (!analysis.phases) return [];
  const pictures: Record<string, number | null> = analysis.phases.snapshots;
  const solved = isSolved(analysis.circuit?.verdict.name ?? UNSOLVED);
  const cuts = [
    { at: 0, name: "before", phase: 0 },
    { at: pictures["clustered"], name: "clustered", phase: 1 },
    { at: pictures["partly_classified"], name: "fitting", phase: 2 },
    { at: pictures["fitted"], name: solved ? "solved" : "settled", phase: 3 },
  ].flatMap((cut) => (typeof cut.at === "number" ? [{ ...cut, at: cut.at }] : []));
  if (cuts.length < 2) return [];
  const end = analysis.phases.measured_to;
  return cuts.map(({ at, name, phase }, i) => ({
    from: at,
    to: cuts[i + 1]?.at ?? end,
    name,
    phase,
  }));
}

// Linking: what one thing under the pointer marks elsewhere.

import type { Kind, ScenePlan, Sequences } from "./types";

export interface Mark {
  slot: number; // which of the runs side by side
  kind: Kind;
  index: number; // of a pair: token * length + position
}

/** What the i-th point of a panel stands for: not all tokens, positions and units need be shown. */
export function thingAt(kind: Kind, i: number, plan: ScenePlan): number {
  switch (kind) {
    case "token":
      return plan.tokens[i] ?? -1;
    case "position":
      return plan.positions[i] ?? -1;
    case "unit":
      return plan.units[i] ?? -1;
    case "sequence":
      return i;
    case "pair": {
      const columns = plan.positions.length;
      return (
        (plan.pairTokens[Math.floor(i / columns)] ?? -1) * plan.length +
        (plan.positions[i % columns] ?? 0)
      );
    }
  }
}

export const sameMark = (a: Mark | null, b: Mark | null): boolean =>
  a === b || (!!a && !!b && a.kind === b.kind && a.index === b.index && a.slot === b.slot);

/** Whether a hidden unit answers to a sequence. */
export type Active = (sequence: number, unit: number) => boolean;

/** Whether the thing of this kind and index is to be marked; null: nothing is, all look alike. */
export function marks(
  mark: Mark | null,
  kind: Kind,
  index: number,
  sequences: Sequences,
  active?: Active,
): boolean | null {
  if (!mark) return null;
  if (mark.kind === kind) return mark.index === index;
  const { length } = sequences;
  switch (kind) {
    case "token":
      if (mark.kind === "pair") return Math.floor(mark.index / length) === index;
      return null;
    case "position":
      if (mark.kind === "pair") return mark.index % length === index;
      return null;
    case "pair":
      return marksPair(mark, Math.floor(index / length), index % length, sequences);
    case "sequence":
      if (mark.kind === "unit" && active) return active(index, mark.index);
      return marksSequence(mark, index, sequences);
    case "unit":
      return mark.kind === "sequence" && active ? active(mark.index, index) : null;
  }
}

function marksPair(
  mark: Mark,
  token: number,
  position: number,
  sequences: Sequences,
): boolean | null {
  if (mark.kind === "token") return mark.index === token;
  if (mark.kind === "position") return mark.index === position;
  if (mark.kind === "sequence")
    return sequences.tokens[mark.index * sequences.length + position] === token;
  return null;
}

function marksSequence(mark: Mark, index: number, sequences: Sequences): boolean | null {
  if (mark.kind !== "pair") return null;
  const position = mark.index % sequences.length;
  return (
    sequences.tokens[index * sequences.length + position] ===
    Math.floor(mark.index / sequences.length)
  );
}

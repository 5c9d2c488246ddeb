// What is marked, as it is told to Python (`sandbox/marked_things.py`) and by it: things are named by
// what they are, not by where this page has them in its lists.

import type { Mark } from "./marks";
import type { Kind, Sequences } from "./types";

export type ToldMark = { run: number } & (
  | { kind: Exclude<Kind, "pair" | "sequence">; index: number }
  | { kind: "pair"; token: number; position: number }
  | { kind: "sequence"; tokens: number[] }
);

/** `sequences`: those of the run that the mark is in. */
export function toldMark(
  { slot: run, kind, index }: Mark,
  { tokens, length }: Sequences,
): ToldMark {
  switch (kind) {
    case "pair":
      return { run, kind, token: Math.floor(index / length), position: index % length };
    case "sequence":
      return { run, kind, tokens: [...tokens.subarray(index * length, (index + 1) * length)] };
    default:
      return { run, kind, index };
  }
}

/** null: the run's page has no such thing, as of a sequence that is not shown. */
export function markTold(told: ToldMark, sequences: Sequences): Mark | null {
  const { run: slot, kind } = told;
  switch (kind) {
    case "pair":
      return { slot, kind, index: told.token * sequences.length + told.position };
    case "sequence": {
      const index = placeOf(told.tokens, sequences);
      return index < 0 ? null : { slot, kind, index };
    }
    default:
      return { slot, kind, index: told.index };
  }
}

function placeOf(wanted: readonly number[], { tokens, count, length }: Sequences): number {
  for (let i = 0; i < count; i++)
    if (wanted.every((token, t) => tokens[i * length + t] === token)) return i;
  return -1;
}

// Why a sum that is not plain is right: in one sentence, for somebody who meets it for the first time.

import type { KeptSum } from "./kept-sum";

/** Why the remainder can be told from the sum; null of a plain one, and where no sum is kept. */
export function whyRight(sum: KeptSum): string | null {
  switch (sum.kind) {
    case "signed":
    case "folded":
      return sum.vocab === 2 ? whyWeights(sum) : whyShifts(sum);
    case "split":
      return whySplit(sum);
    case "two":
      return "Either sum tells the remainder; the embedding keeps both.";
    case "plain":
    case "unexplained":
      return null;
  }
}

/** Of two tokens: which weights other than 1 there are. */
function whyWeights({ terms: [adds = new Int32Array()], length }: KeptSum): string {
  const weights = Array.from({ length }, (_, t) => adds[4 * t + 3]! - adds[4 * t + 1]!);
  const parts = [
    ...(weights.includes(-1) ? ["−1 is 1"] : []),
    ...(weights.some((w) => w && w % 2 === 0) ? ["2 is 0"] : []),
  ];
  const [first, second] = parts;
  return `${first} modulo 2${second ? `, and ${second}` : ""}: the remainder is the same.`;
}

function whyShifts({ kind, vocab }: KeptSum): string {
  return kind === "signed"
    ? "Shifts add the same to every sequence, so the remainder can still be told."
    : `A fold changes the sum by a multiple of ${vocab}: the remainder is the same.`;
}

/** What is kept apart is needed where it is relevant. */
function whySplit({ apart, positions }: KeptSum): string {
  const named = (wanted: boolean): string =>
    apart
      .filter((t) => positions.includes(t) === wanted)
      .map((t) => `x${t}`)
      .join(" and ");
  const [needed, other] = [named(true), named(false)];
  const told = needed
    ? `The sum and ${needed} together tell the remainder`
    : "The sum tells the remainder";
  return `${told}${other && `; ${other} ${other.includes(" ") ? "are" : "is"} kept too`}.`;
}

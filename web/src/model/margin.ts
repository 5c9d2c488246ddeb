// How far a sequence is from being judged otherwise.

import type { Precision } from "./types";

/** Nats, whole ones: a probability that is farther below 1 is no normal number, and may be 0. */
export const FARTHEST: Readonly<Record<Precision, number>> = {
  float32: Math.floor(126 * Math.LN2),
  float64: Math.floor(1022 * Math.LN2),
};

/** The target's logit over the highest of the others, from the probabilities of one sequence:
 * differences of logits are those of log-probabilities. Negative when another class wins, infinite
 * where one of the two probabilities is 0. */
export function marginOf(probabilities: ArrayLike<number>, target: number): number {
  let other = -Infinity;
  for (let c = 0; c < probabilities.length; c++)
    if (c !== target) other = Math.max(other, probabilities[c]!);
  return Math.log(probabilities[target] ?? NaN) - Math.log(other);
}

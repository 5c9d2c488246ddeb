// The interval of a share: src/dynascope/share_interval.py, and the words of findings/words.py. A test
// asks both for the same counts.

import { percent } from "./number-text";

const Z = 1.959963984540054; // of the normal distribution, 2.5% are above it

/** Wilson's 95% interval; exactly 0 and 1 where all trials went one way, and nowhere else. */
export function wilson(successes: number, trials: number): [low: number, high: number] {
  if (!trials) return [0, 1];
  const [share, scale] = [successes / trials, 1 + (Z * Z) / trials];
  const middle = (share + (Z * Z) / (2 * trials)) / scale;
  const within = (share * (1 - share)) / trials + (Z / (2 * trials)) ** 2;
  const reach = (Z * Math.sqrt(within)) / scale;
  return [successes ? middle - reach : 0, successes < trials ? middle + reach : 1];
}

/** "9 of 20 runs (45%; 95% interval 26% to 66%)". */
export function shareInWords(count: number, of: number): string {
  const [low, high] = wilson(count, of).map((bound) => percent(bound, 0));
  const runs = of === 1 ? "run" : "runs";
  return `${count} of ${of} ${runs} (${percent(count / of, 0)}; 95% interval ${low} to ${high})`;
}

// What came of many seeds: which of them solve the task, in which order they are shown, how many are
// left. A run is solved as Python has it (Runs.solved): by the test accuracy at its end.

import { clock } from "../number-text";
import { shareInWords } from "../share-interval";
import { THRESHOLDS } from "../thresholds";
import type { SeedReport } from "./seed-run";

export type SeedOutcome = "waiting" | "training" | "stopped" | "solved" | "not solved" | "diverged";

/** A seed as the page has it. */
export interface SeedResult {
  seed: number;
  outcome: SeedOutcome;
  report: SeedReport | null; // null: it has not begun
}

/** Of a run to so many epochs. One that diverged has no accuracy at the end. `working`: somebody
 * trains it. */
export function seedResult(
  seed: number,
  report: SeedReport | null,
  epochs: number,
  working: boolean,
): SeedResult {
  const outcome = (): SeedOutcome => {
    if (!report?.over) return !report ? "waiting" : working ? "training" : "stopped";
    if (report.epoch === epochs && report.accuracy > THRESHOLDS.solved_accuracy) return "solved";
    return report.diverged === null ? "not solved" : "diverged";
  };
  return { seed, report, outcome: outcome() };
}

/** In a few words, below the curve. */
export function outcomeText({ outcome, report }: SeedResult): string {
  switch (outcome) {
    case "waiting":
    case "not solved":
      return outcome;
    case "training":
      return `epoch ${report!.epoch}`;
    case "stopped":
      return `stopped at ${report!.epoch}`;
    case "solved":
      return `solved at ${report!.above}`;
    case "diverged":
      return `diverged at ${report!.diverged}`;
  }
}

// ---- order and choice --------------------------------------------------------------------------

export const SEED_ORDERS = {
  seed: "by seed",
  solved: "solved first",
  loss: "by loss at the end",
  epoch: "by epoch solved",
} as const;
export type SeedOrder = keyof typeof SEED_ORDERS;

export const SEED_CHOICES = ["all", "solved", "not solved", "diverged"] as const;
export type SeedChoice = (typeof SEED_CHOICES)[number];

const ENDED: readonly SeedOutcome[] = ["solved", "not solved", "diverged"];
const BEST_FIRST: readonly SeedOutcome[] = [...ENDED, "training", "stopped", "waiting"];
const isOver = ({ outcome }: SeedResult): boolean => ENDED.includes(outcome);

/** What decides the place; the lower, the earlier. What is not known yet comes last. */
const RANKS: Readonly<Record<SeedOrder, (result: SeedResult) => number>> = {
  seed: ({ seed }) => seed,
  solved: ({ outcome }) => BEST_FIRST.indexOf(outcome),
  loss: ({ outcome, report }) =>
    outcome === "solved" || outcome === "not solved" ? report!.loss : Infinity,
  epoch: ({ outcome, report }) => (outcome === "solved" ? report!.above! : Infinity),
};

/** Those that are to be seen, in their order; of equals the smaller seed is first. */
export function orderedSeeds<Result extends SeedResult>(
  results: readonly Result[],
  order: SeedOrder,
  choice: SeedChoice = "all",
): Result[] {
  const chosen = results.filter(({ outcome }) => choice === "all" || outcome === choice);
  const ranked = chosen.map((result) => ({ result, rank: RANKS[order](result) }));
  const differ = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);
  ranked.sort(
    (a, b) =>
      differ(a.rank, b.rank) ||
      differ(Number(!isOver(a.result)), Number(!isOver(b.result))) ||
      differ(a.result.seed, b.result.seed),
  );
  return ranked.map(({ result }) => result);
}

// ---- counts ------------------------------------------------------------------------------------

export interface SeedCounts {
  all: number;
  trained: number; // to the end, or until they diverged
  solved: number;
  diverged: number;
}

export function countSeeds(results: readonly SeedResult[]): SeedCounts {
  const of = (outcome: SeedOutcome): number =>
    results.filter((result) => result.outcome === outcome).length;
  const trained = results.filter(isOver).length;
  return { all: results.length, trained, solved: of("solved"), diverged: of("diverged") };
}

/** "12 of 20 trained; solved: 9 of 12 runs (75%; 95% interval 47% to 91%); 1 diverged". */
export function countsInWords({ all, trained, solved, diverged }: SeedCounts): string {
  const parts = [`${trained} of ${all} trained`];
  if (trained) parts.push(`solved: ${shareInWords(solved, trained)}`);
  if (diverged) parts.push(`${diverged} diverged`);
  return parts.join("; ");
}

/** How much longer it takes, if it goes on as it went; "": nobody knows yet. */
export function timeLeft(done: number, seconds: number, left: number): string {
  if (!(done > 0 && seconds > 0 && left > 0)) return "";
  return `${clock((seconds / done) * left)} left`;
}

// ---- the shared axis ---------------------------------------------------------------------------

const LARGEST = 2; // powers of ten: what blows up does not flatten the others
const SMALLEST = -8;

/** Whole powers of ten within which all losses lie, as far as they are of interest. */
export function lossPowers(
  known: readonly [number, number] | null,
  losses: Float32Array,
): readonly [number, number] | null {
  let [low, high] = known ?? [Infinity, -Infinity];
  for (const loss of losses) {
    if (!(loss >= 0)) continue;
    const power = Math.min(LARGEST, Math.max(SMALLEST, Math.log10(loss)));
    low = Math.min(low, Math.floor(power));
    high = Math.max(high, Math.ceil(power), low + 1);
  }
  if (low > high || (known && low === known[0] && high === known[1])) return known;
  return [low, high];
}

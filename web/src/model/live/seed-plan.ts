// Which seeds to train, and by how many workers.

import { expected } from "../errors";

export const MOST_SEEDS = 1000;
export const LARGEST_SEED = Number.MAX_SAFE_INTEGER;
const MOST_WORKERS = 8;

/** A seed as it was typed. */
export function readSeed(text: string): number {
  const seed = /^\d{1,16}$/.test(text.trim()) ? Number(text) : NaN;
  if (!(seed <= LARGEST_SEED))
    throw expected("seed", `a whole number from 0 to ${LARGEST_SEED}`, text);
  return seed;
}

/** How many seeds, as it was typed; they begin with `first`. */
export function readSeedCount(text: string, first: number): number {
  const count = /^\d{1,16}$/.test(text.trim()) ? Number(text) : NaN;
  if (!(count >= 1 && count <= MOST_SEEDS))
    throw expected("seeds", `a whole number from 1 to ${MOST_SEEDS}`, text);
  const most = LARGEST_SEED - first + 1;
  if (count > most)
    throw expected(
      "seeds",
      `at most ${most} from seed ${first}, the last being ${LARGEST_SEED}`,
      text,
    );
  return count;
}

/** Where there are more than two cores, one is left to the page. */
export function workersFor(cores: number, seeds: number): number {
  const free = cores > 2 ? cores - 1 : cores;
  return Math.max(1, Math.min(free || 1, MOST_WORKERS, seeds));
}

// Many seeds of one config, trained by a pool of workers: what is known of each, how far all are, and
// how they are looked at. It stays while one of them is open.

import { batch, computed, effect, signal, type Signal } from "@preact/signals";
import { workersFor } from "../model/live/seed-plan";
import {
  countSeeds,
  lossPowers,
  orderedSeeds,
  seedResult,
  timeLeft,
  type SeedChoice,
  type SeedOrder,
  type SeedResult,
} from "../model/live/seed-results";
import type { SeedCurve, SeedReport } from "../model/live/seed-run";
import type { Config } from "../model/types";
import { SeedPool } from "../workers/seed-pool";
import { isOffered, isPlayground, store } from "./all-runs";
import { startRun } from "./live-control";
import { forgetLive, isLive, liveEntry, liveRuns } from "./live-runs";
import { change, openRun, seen, tellTrouble, trouble } from "./page-state";

/** The seeds of one config. */
export interface SeedBrowser {
  config: Config;
  results: readonly Signal<SeedResult>[]; // each by itself: a cell is drawn when it changes
  opened: Map<number, string>; // live runs by seed, the latest last
  scrolled: number; // pixels, for who comes back
}

/** How they are looked at. */
interface SeedLook {
  curve: SeedCurve;
  order: SeedOrder;
  choice: SeedChoice;
  at: number; // the seed that the keyboard is at
}

const MOMENT = 250; // milliseconds after which counts and order are looked at again
const MOST_OPENED = 8; // runs that were opened from here and are kept: each has all its weights

export const seedBrowser = signal<SeedBrowser | null>(null);
export const seedLook = signal<SeedLook>(firstLook(0));
/** Powers of ten that the losses of all seeds lie between. */
export const seedPowers = signal<readonly [number, number] | null>(null);
export const seedsTraining = signal(false);

const moments = signal(0);
let pool: SeedPool | null = null;
let ticking = 0;
let work = { since: 0, epochs: 0 }; // what the pool has done

function firstLook(at: number): SeedLook {
  return { curve: "loss", order: "seed", choice: "all", at };
}

export function lookAtSeeds(part: Partial<SeedLook>): void {
  const others = part.order !== undefined || part.choice !== undefined;
  if (others && seedBrowser.value) seedBrowser.value.scrolled = 0;
  seedLook.value = { ...seedLook.value, ...part };
}

const resultsNow = computed(() => {
  void moments.value;
  return seedBrowser.value?.results.map((result) => result.peek()) ?? [];
});
export const seedCounts = computed(() => countSeeds(resultsNow.value));
export const seedTimeLeft = computed(() => {
  const epochs = seedBrowser.value?.config.training.epochs ?? 0;
  const left = resultsNow.value.filter(({ report }) => !report?.over);
  const toDo = left.reduce((sum, { report }) => sum + epochs - (report?.epoch ?? 0), 0);
  return timeLeft(work.epochs, (performance.now() - work.since) / 1000, toDo);
});

const orderOf = computed(() => seedLook.value.order); // not again for every pixel that is scrolled
const choiceOf = computed(() => seedLook.value.choice);
/** The seeds to be seen, in their order. */
export const shownSeeds = computed(() => {
  const shown = orderedSeeds(resultsNow.value, orderOf.value, choiceOf.value);
  const known = new Map(seedBrowser.value?.results.map((each) => [each.peek().seed, each]));
  return shown.map(({ seed }) => known.get(seed)!);
});

// ---- training ------------------------------------------------------------------------------------

/** Trains so many seeds of a config, from one on, and shows them. */
export function trainSeeds(config: Config, first: number, count: number): void {
  closeSeeds();
  const seeds = Array.from({ length: count }, (_, i) => first + i);
  const result = (seed: number): Signal<SeedResult> =>
    signal(seedResult(seed, null, config.training.epochs, true));
  batch(() => {
    seedBrowser.value = { config, results: seeds.map(result), opened: new Map(), scrolled: 0 };
    seedLook.value = firstLook(first);
    seedPowers.value = null;
    change({ page: "seeds" });
  });
  goOnWithSeeds();
}

/** Those that were stopped begin again: the same seed gives the same run. */
export function goOnWithSeeds(): void {
  const browser = seedBrowser.peek();
  if (!browser || pool) return;
  const { config, results } = browser;
  const left = results.filter((result) => !result.peek().report?.over);
  if (!left.length) return;
  const { epochs } = config.training;
  const bySeed = new Map(left.map((result) => [result.peek().seed, result]));
  for (const [seed, result] of bySeed) result.value = seedResult(seed, null, epochs, true);
  work = { since: performance.now(), epochs: 0 };
  const workers = workersFor(navigator.hardwareConcurrency, left.length);
  pool = new SeedPool(config, [...bySeed.keys()], workers, {
    report: (report) => take(bySeed.get(report.seed)!, report, epochs),
    done: stopSeeds,
    failed: (message) => {
      trouble.value = message;
      stopSeeds();
    },
  });
  seedsTraining.value = true;
  ticking = setInterval(() => (moments.value += 1), MOMENT);
}

function take(result: Signal<SeedResult>, report: SeedReport, epochs: number): void {
  const before = result.peek();
  work.epochs += report.epoch - (before.report?.epoch ?? 0);
  result.value = seedResult(report.seed, report, epochs, true);
  seedPowers.value = lossPowers(seedPowers.peek(), report.curves.loss);
}

/** Ends the workers; what is known stays. */
export function stopSeeds(): void {
  if (!pool) return;
  pool.close();
  pool = null;
  clearInterval(ticking);
  const { config, results } = seedBrowser.peek()!;
  batch(() => {
    for (const result of results) {
      const { seed, report, outcome } = result.peek();
      if (outcome === "training")
        result.value = seedResult(seed, report, config.training.epochs, false);
    }
    seedsTraining.value = false;
    moments.value += 1;
  });
}

// ---- going there, to one of them, and away -------------------------------------------------------

/** Opens a seed as a live run, trained once more. */
export async function openSeed(seed: number): Promise<void> {
  const browser = seedBrowser.peek();
  if (!browser) return;
  lookAtSeeds({ at: seed });
  const { config, opened } = browser;
  const known = opened.get(seed);
  if (known !== undefined && isLive(known)) return openRun(known);
  try {
    const { id } = await startRun(config, seed, { name: `seed ${seed}` });
    opened.delete(seed);
    opened.set(seed, id);
    forgetOpened(opened, MOST_OPENED);
  } catch (error) {
    tellTrouble(error);
  }
}

/** Keeps so many of the runs that were opened, besides those that are open, changed or branched. */
function forgetOpened(opened: Map<number, string>, most: number): void {
  for (const [seed, id] of [...opened].slice(0, Math.max(0, opened.size - most))) {
    const branched = liveRuns.peek().some(({ parent }) => parent?.id === id);
    const changed = liveEntry(id)?.facts.edits.length;
    if (branched || changed || seen.runs.peek().includes(id)) continue;
    opened.delete(seed);
    forgetLive(id);
  }
}

export const showSeeds = (): void => change({ page: "seeds" });

/** To the run that is open, or to where runs are chosen. */
export function leaveSeeds(): void {
  const table = store.value !== null && isOffered("table") && !isPlayground.value;
  change({ page: table && !seen.runs.value.length ? "runs" : "run" });
}

export function closeSeeds(): void {
  stopSeeds();
  if (seedBrowser.value) forgetOpened(seedBrowser.value.opened, 0);
  seedBrowser.value = null;
}

/** An address may lead to seeds that are not, or no longer, there. */
export function followSeeds(): void {
  effect(() => {
    if (seen.page.value === "seeds" && !seedBrowser.value) queueMicrotask(leaveSeeds);
  });
}

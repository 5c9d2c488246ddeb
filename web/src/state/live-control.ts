// What a person does with live runs: start one, go on, stop, step, start again.

import { computed, effect, signal } from "@preact/signals";
import { afterDrawing } from "../drawing/frame-queue";
import type { Config, Numbers } from "../model/types";
import {
  branchLive,
  replaceLive,
  historyOf,
  liveRuns,
  pauseLive,
  startLive,
  stepLive,
  trainLive,
  type LiveEntry,
} from "./live-runs";
import { change, openRun, seek, seen, slots, tellTrouble } from "./page-state";

/** Epochs a second; null: as fast as it goes. */
export const pace = signal<number | null>(null);
export const PACES: readonly (number | null)[] = [null, 240, 60, 15];

/** The live run that the time bar belongs to: the last that is open. */
export const liveShown = computed<LiveEntry | null>(
  () => slots.value.map((slot) => slot.live).findLast((live) => live !== null) ?? null,
);

interface StartOptions {
  name?: string;
  start?: Numbers | null; // the first weights, if not those of the seed
  open?: (id: string) => void; // else it takes the place of what is open
}

/** Starts a run and opens it; once it is to be seen, it is trained to the end that its config has. */
export async function startRun(
  config: Config,
  seed: number,
  options: StartOptions = {},
): Promise<LiveEntry> {
  const { entry, there } = await begun(config, seed, options);
  void there.then((is) => is && goOn(entry));
  return entry;
}

/** The same, left as it is before its first step. */
export async function beginRun(
  config: Config,
  seed: number,
  options: StartOptions = {},
): Promise<LiveEntry> {
  return (await begun(config, seed, options)).entry;
}

async function begun(
  config: Config,
  seed: number,
  { name = `live run ${liveRuns.value.length + 1}`, start = null, open = openRun }: StartOptions,
): Promise<{ entry: LiveEntry; there: Promise<boolean> }> {
  const entry = await startLive(config, seed, { name, parent: null }, start);
  return { entry, there: openAndAwaitPicture(entry, open) };
}

/** Opens a run; training waits until it is to be seen. False: it was forgotten before that. */
function openAndAwaitPicture({ id }: LiveEntry, open: (id: string) => void): Promise<boolean> {
  open(id);
  if (seen.runs.value.length === 1) seek(0);
  return new Promise((done) => {
    const stop = effect(() => {
      const there = liveRuns.value.some((entry) => entry.id === id);
      if (there && !slots.value.some((slot) => slot.live?.id === id && slot.scene.value)) return;
      queueMicrotask(() => {
        stop();
        afterDrawing(() => done(liveRuns.value.some((entry) => entry.id === id)));
      });
    });
  });
}

/** Trains on: to the end that was planned, or half as far again. */
export function goOn({ id, info, now }: LiveEntry): void {
  const { epoch } = now.value;
  const planned = info.config.training.epochs;
  trainLive(id, epoch < planned ? planned : Math.ceil(1.5 * Math.max(epoch, 10)), pace.value);
}

export function pauseOrGoOn(entry: LiveEntry): void {
  if (entry.now.value.training) pauseLive(entry.id);
  else goOn(entry);
}

export function stepBy({ id }: LiveEntry, by: "epoch" | "batch"): void {
  stepLive(id, by);
}

export function setPace(entry: LiveEntry, to: number | null): void {
  pace.value = to;
  if (entry.now.value.training) goOn(entry);
}

/** Whether a run is being started again. */
export const restarting = signal(false);

/** The same run from its start, or from where it was branched: so it is the same run again. */
export async function restart(entry: LiveEntry): Promise<void> {
  if (restarting.value) return;
  restarting.value = true;
  try {
    const made = await begunAgain(entry);
    const there = await openAndAwaitPicture(made, (again) => openInstead(entry.id, again));
    replaceLive(entry.id, made.id);
    if (there) goOn(made);
  } catch (error) {
    tellTrouble(error);
  } finally {
    restarting.value = false;
  }
}

async function begunAgain({ id, facts, name, parent }: LiveEntry): Promise<LiveEntry> {
  const beginning = { name, parent };
  return parent
    ? branchLive(await historyOf(id, parent.epoch), beginning)
    : startLive(facts.config, facts.seed, beginning, facts.start);
}

/** In the place of another run, if that is open. */
function openInstead(id: string, other: string): void {
  const runs = seen.runs.value;
  if (!runs.includes(id)) return openRun(other);
  change({ runs: runs.map((each) => (each === id ? other : each)) });
}

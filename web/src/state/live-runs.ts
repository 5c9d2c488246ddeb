// Runs that are trained in the page: each has a worker while it is at work, and all that it has
// recorded is here.

import { batch, signal, type Signal } from "@preact/signals";
import { CURVES } from "../model/kernel/names";
import { GrowingRows } from "../model/live/growing-rows";
import { liveDetails, namedCurves, type LiveFacts } from "../model/live/live-details";
import type { History } from "../model/live/live-run";
import type { Recipe } from "../model/live/run-recipe";
import type { RunDetails } from "../model/server/answers";
import type { Config, Numbers } from "../model/types";
import { tellTrouble } from "./page-state";
import { LiveClient } from "../workers/live-client";
import type { FromLiveWorker, Grown } from "../workers/live-protocol";

/** Where training is. */
export interface LiveNow {
  epoch: number;
  stepInEpoch: number;
  stepsPerEpoch: number;
  between: Numbers | null; // the weights in the middle of an epoch
  training: boolean;
  goal: number; // the epoch that it goes to
}

export interface LiveEntry {
  id: string;
  name: string;
  facts: LiveFacts;
  info: RunDetails; // changes as it grows
  curves: Record<string, Numbers>; // so do these
  weights: GrowingRows; // [epoch + 1, size]
  now: Signal<LiveNow>;
  parent: { id: string; epoch: number } | null; // what it is a branch of
}

/** Epochs of a run that are new, for whoever shows it. */
export type OnGrown = (entry: LiveEntry, first: number, weights: Numbers) => void;

const AT_WORK = 3; // workers that are kept; the others go on from what they have recorded

interface Held {
  entry: LiveEntry;
  rows: GrowingRows; // of curves
  client: LiveClient | null;
  history: History | null; // of one whose worker was let go
  listeners: Set<OnGrown>;
}

export const liveRuns = signal<readonly LiveEntry[]>([]);
/** Whether runs may still come that the page was made with. */
export const awaitsShared = signal(true);
const held = new Map<string, Held>();
let made = 0;

export const isLive = (id: string): boolean => held.has(id);
/** Whether an id is that of a run that was trained in some page, and is not here. */
export const isGone = (id: string): boolean => /^live-\d+$/.test(id) && !held.has(id);
export const liveEntry = (id: string): LiveEntry | null => held.get(id)?.entry ?? null;

export interface Beginning {
  name: string;
  parent: LiveEntry["parent"];
  id?: string; // that it had in the page it is from; else a new one
}

/** A new run of a seed, before its first step; `start`: with these weights, not the seed's. */
export function startLive(
  config: Config,
  seed: number,
  beginning: Beginning,
  start: Numbers | null = null,
): Promise<LiveEntry> {
  return begin(config, seed, beginning, (client) => client.start(config, seed, start));
}

/** A run that goes on from an epoch of another. */
export function branchLive(history: History, beginning: Beginning): Promise<LiveEntry> {
  const { config, seed } = history;
  return begin(config, seed, beginning, (client) => client.goOn(history));
}

/** A run trained again, up to its last epoch; `reached` is told how far that is. */
export function replayLive(
  recipe: Recipe,
  beginning: Beginning,
  reached: (epoch: number) => void,
): Promise<LiveEntry> {
  const { config, seed } = recipe;
  return begin(config, seed, beginning, (client) => client.replay(recipe), reached);
}

const taken = new Set<string>(); // ids, also of runs that are still being trained again

/** The id of the next run: none that is taken. */
function newId(): string {
  do made++;
  while (taken.has(`live-${made}`));
  return `live-${made}`;
}

function begin(
  config: Config,
  seed: number,
  { name, parent, id = newId() }: Beginning,
  start: (client: LiveClient) => void,
  reached: (epoch: number) => void = () => undefined,
): Promise<LiveEntry> {
  taken.add(id);
  return new Promise((done, fail) => {
    let own: Held | null = null;
    const client = new LiveClient((message) => {
      if (own) return receive(own, message);
      if (message.type === "failed") {
        client.close();
        fail(new Error(message.message));
      }
      if (message.type === "replaying") reached(message.epoch);
      if (message.type !== "began") return;
      const { parameters, start, grown } = message;
      const facts: LiveFacts = { id, seed, config, start, parameters, edits: grown.edits };
      const width = parameters.reduce((size, each) => size + each.size, 0);
      const entry: LiveEntry = {
        ...{ id, name, facts, parent },
        info: liveDetails(facts, grown.epoch, grown.diverged),
        curves: {},
        weights: new GrowingRows(width, config.precision),
        now: signal(nowOf(grown, grown.epoch)),
      };
      const rows = new GrowingRows(CURVES.length, config.precision);
      own = { entry, rows, client, history: null, listeners: new Set() };
      held.set(id, own);
      take(own, grown);
      liveRuns.value = [...liveRuns.value, entry];
      void releaseIdleWorkers(id);
      done(entry);
    });
    start(client);
  });
}

/** Who is told of new epochs; what it returns ends that. */
export function onGrown(id: string, listener: OnGrown): () => void {
  const listeners = held.get(id)?.listeners;
  listeners?.add(listener);
  return () => void listeners?.delete(listener);
}

/** Trains to an epoch; `pace`: epochs a second, null: as fast as it goes. */
export function trainLive(id: string, to: number, pace: number | null): void {
  const { entry } = held.get(id)!;
  entry.now.value = { ...entry.now.value, goal: to, training: true };
  atWork(id).train(to, pace);
}

export const pauseLive = (id: string): void => held.get(id)?.client?.pause();
export const stepLive = (id: string, by: "epoch" | "batch"): void => atWork(id).step(by);
export const editLive = (id: string, weights: Numbers): void => atWork(id).edit(weights);
export const changeLive = (id: string, options: Readonly<Record<string, unknown>>): void =>
  atWork(id).change(options);

/** All that is needed to go on from an epoch of a run. */
export function historyOf(id: string, epoch: number): Promise<History> {
  return atWork(id).history(epoch);
}

/** Forgets a run. */
export function forgetLive(id: string): void {
  held.get(id)?.client?.close();
  held.delete(id);
  liveRuns.value = liveRuns.value.filter((entry) => entry.id !== id);
}

/** Forgets a run that another one is in the place of: branches of it are now that one's. */
export function replaceLive(id: string, by: string): void {
  for (const { entry } of held.values())
    if (entry.parent?.id === id) entry.parent = { ...entry.parent, id: by };
  forgetLive(id);
}

/** The worker of a run, started again if it was let go. */
function atWork(id: string): LiveClient {
  const known = held.get(id)!;
  if (!known.client) {
    known.client = new LiveClient((message) => receive(known, message));
    known.client.goOn(known.history!);
    known.history = null;
    void releaseIdleWorkers(id);
  }
  return known.client;
}

/** Lets workers go that have nothing to do: their memory is far larger than what they recorded. */
async function releaseIdleWorkers(except: string): Promise<void> {
  const busy = [...held.values()].filter(({ client }) => client);
  const idle = busy.filter(({ entry }) => entry.id !== except && !entry.now.value.training);
  for (const each of idle.slice(0, Math.max(0, busy.length - AT_WORK))) {
    const { client, entry } = each;
    if (entry.now.value.stepInEpoch) continue; // what is in the middle of an epoch stays there
    const history = await client!.history(entry.now.value.epoch).catch(() => null);
    if (!history || client!.asked || each.client !== client || entry.now.value.training) continue;
    each.history = history;
    each.client = null;
    client!.close();
  }
}

function receive(known: Held, message: FromLiveWorker): void {
  if (message.type === "failed") {
    known.entry.now.value = { ...known.entry.now.value, training: false };
    return tellTrouble(message.message);
  }
  if (message.type === "grew") take(known, message.grown);
}

function take(known: Held, grown: Grown): void {
  const { entry, rows, listeners } = known;
  const { first, curves, weights, epoch, diverged, edits } = grown;
  rows.count = entry.weights.count = first;
  rows.append(curves);
  entry.weights.append(weights);
  entry.facts = { ...entry.facts, edits };
  entry.info = liveDetails(entry.facts, epoch, diverged);
  entry.curves = namedCurves(rows, entry.info.curveNames);
  batch(() => {
    entry.now.value = nowOf(grown, Math.max(entry.now.peek().goal, epoch));
    for (const listener of listeners) listener(entry, first, weights);
  });
}

function nowOf(grown: Grown, goal: number): LiveNow {
  const { epoch, stepInEpoch, stepsPerEpoch, between, training, diverged } = grown;
  const until = diverged === null ? goal : epoch;
  return { epoch, stepInEpoch, stepsPerEpoch, between, training, goal: until };
}

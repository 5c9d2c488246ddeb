// The worker that owns a run's weights and makes scenes of them. One run for each.

import { ReadableError } from "../model/errors";
import type { Kernel, Model, Tasks } from "../model/kernel";
import { hasOwnData, sequencesOfClasses, targetsIn } from "../model/own-data";
import { sampledEpochs } from "../model/scene/axis-ranges";
import { runExtents } from "../model/scene/panel-extents";
import { sceneBuilder, type SceneBuilder } from "../model/scene/scene";
import { NO_INTERVENTION, sceneKernel, type ChangeableKernel } from "../model/scene/scene-kernel";
import { scoresOf, type SetExamples } from "../model/scene/set-scores";
import { planeEpoch, sceneOver } from "../model/scene/scene-plan";
import { chooseSequences, MOST_SEQUENCES } from "../model/sequences";
import { heldAt } from "../model/live/clamps";
import { GrowingRun } from "../model/live/growing-run";
import { configAt } from "../model/live/run-edits";
import { isAbort } from "../model/server/api";
import { StoredRun, type LoadedRun } from "../model/server/stored-run";
import { parseRows, parseSequences } from "../model/typed-sequences";
import type { Examples, OwnTask, Run, ScenePlan, Sequences } from "../model/types";
import type { PanelExtents, FromWorker, SceneRequest, ToWorker, WhatIf } from "./protocol";
import { fetchKernel, modelOf } from "./run-kernel";
import { workerApi } from "./worker-api";

type OpenRun = LoadedRun | (GrowingRun & Run);

const SAMPLED = 64; // epochs that decide fixed axes
const SAMPLED_FAR = 12; // where the weights are too many to fetch them all
const SMALL = 32e6; // bytes of weights
const LARGEST_SET = 64e6; // bytes of sequences in which typed ones are looked for

let run: OpenRun | null = null;
let tasks: Tasks | null = null;
let kernel: ChangeableKernel | null = null;
let loaded: Kernel | null = null;
let model: Model | null = null;
let builder: SceneBuilder | null = null;
let shown: Sequences | null = null;
let edited: { number: number; whatIf: WhatIf } | null = null;
let sets: Promise<SetExamples> | null = null; // those of the run, once an edit is scored
let scenesAsked = 0; // only the latest is made
let examples: Examples[] | null = null; // a run's own data

self.onmessage = (event: MessageEvent<ToWorker>): void => {
  const message = event.data;
  answer(message).catch((error: unknown) => {
    const known = error instanceof ReadableError;
    post({
      type: "error",
      about: message.type,
      message: known ? error.message : `Something went wrong: ${String(error)}`,
    });
  });
};

function post(message: FromWorker, transfer: Transferable[] = []): void {
  self.postMessage(message, { transfer });
}

async function answer(message: ToWorker): Promise<void> {
  switch (message.type) {
    case "open":
      return open(await StoredRun.open(workerApi, message.id), message.sequences);
    case "openLive":
      return open(GrowingRun.of(message.info, message.weights), message.sequences);
    case "grow":
      if (run instanceof GrowingRun)
        run.grow(message.first, message.weights, message.info, message.between);
      return;
    case "axes":
      return refresh();
    case "weights":
      return weightsAt(message.epoch);
    case "whatIf":
      edited = message.whatIf && { number: message.edit, whatIf: message.whatIf };
      return;
    case "sequences":
      return post({ type: "sequences", text: message.text, ...(await prepare(message.text)) });
    case "scene":
      return scene(message.request, message.spare);
  }
}

async function open(opened: OpenRun, sequences: string | null): Promise<void> {
  const fetched = await fetchKernel();
  [run, loaded, sets, edited] = [opened, fetched, null, null];
  run.onReached = (epoch) => post({ type: "reached", epoch });
  tasks = fetched.tasks;
  model = modelOf(fetched, opened.details);
  kernel = sceneKernel(fetched, model);
  const [prepared, trouble] = await prepareOr(sequences);
  const epoch = planeEpoch(opened);
  await opened.load(epoch);
  const ending = { epoch, weights: opened.weights(epoch).slice() };
  const { details: info, curves } = opened;
  post({ type: "opened", info, curves, ...prepared, ending, trouble });
}

/** A URL may name sequences that make no sense for this run: then they are chosen, and it is told. */
async function prepareOr(text: string | null): Promise<[Prepared, string | null]> {
  try {
    return [await prepare(text), null];
  } catch (error) {
    if (text === null || !(error instanceof ReadableError)) throw error;
    return [await prepare(null), error.message];
  }
}

interface Prepared {
  sequences: Sequences;
  plan: ScenePlan;
  extents: PanelExtents;
}

/** What the sequences decide: the plan of all scenes and the axes. */
async function prepare(text: string | null): Promise<Prepared> {
  if (!run || !kernel || !tasks) throw new ReadableError("No run is open.");
  const { task } = run;
  const sequences = hasOwnData(task)
    ? await ownSequences(run, task, text)
    : text === null
      ? chooseSequences(tasks, task)
      : parseSequences(tasks, text, task);
  await run.load(planeEpoch(run));
  builder = sceneBuilder(kernel, run, sequences);
  shown = sequences;
  return { sequences, plan: builder.plan, extents: await axes(run, builder) };
}

/** Planes and axes by the epochs that there are now. */
async function refresh(): Promise<void> {
  if (!run || !kernel || !builder) return;
  builder = sceneBuilder(kernel, run, shown!);
  post({ type: "axes", plan: builder.plan, extents: await axes(run, builder) });
}

/** Of a run's own data, or typed ones: these have a target if they are in the data. */
async function ownSequences(of: OpenRun, task: OwnTask, text: string | null): Promise<Sequences> {
  if (text !== null) {
    const rows = parseRows(text, task);
    return sequencesOfClasses(task, rows, targetsIn(await ownExamples(of), rows));
  }
  const { set, tokens, targets } = await workerApi.sequences(of, MOST_SEQUENCES);
  return sequencesOfClasses(task, tokens, targets, set);
}

/** The sets of a run, fetched when they are first needed; not those too large for a page. */
async function ownExamples({ details }: OpenRun): Promise<Examples[]> {
  const bytes = (set: "train" | "test"): number =>
    4 * (details.sets[set] ?? Infinity) * (details.task.length + 1);
  const sets = (["test", "train"] as const).filter((set) => bytes(set) <= LARGEST_SET);
  examples ??= await Promise.all(sets.map((set) => workerApi.examples(details, set)));
  return examples;
}

/** Fixed axes are decided by epochs all over the run; by few where the weights are many to fetch.
 * Where few weights were kept, whole states often were. */
function axes(of: OpenRun, from: SceneBuilder): Promise<PanelExtents> {
  const bytes = of.weightEpochs.length * of.size * 8;
  const kept = new Set(of.weightEpochs);
  const states = [...of.details.stateEpochs].filter((epoch) => epoch <= of.lastSoundEpoch);
  const known = [...new Set([...kept, ...states])].sort((a, b) => a - b);
  const sampled = sampledEpochs(known, bytes < SMALL ? SAMPLED : SAMPLED_FAR);
  return runExtents(from, sampled, async (epoch) => {
    if (!kept.has(epoch)) return (await workerApi.state(of.details, epoch)).subarray(0, of.size);
    await of.load(epoch);
    return of.weights(epoch);
  });
}

async function scene(asked: SceneRequest, spare: ArrayBuffer | null): Promise<void> {
  if (!run || !builder) throw new ReadableError("No run is open.");
  const { epoch, maps, edit } = asked;
  const request = ++scenesAsked;
  if (edit) return editedScene(asked, builder, spare);
  if (!run.ready(epoch) && !(await fetched(run, epoch, request))) return;
  run.prefetch(epoch);
  const into = sceneOver(builder.plan, spare ?? undefined);
  const weights = run.weights(epoch).slice();
  const shownEpoch = run.shownEpoch(epoch);
  const held = heldIn(run, shownEpoch);
  kernel!.intervention = held ? { ablate: { attention: held }, patch: null } : NO_INTERVENTION;
  const { buffer, finite } = builder.build(shownEpoch, weights, maps, into);
  kernel!.intervention = NO_INTERVENTION;
  const source = run.source(epoch);
  const own = { edit: 0, held: held !== null, scores: null };
  const made = { epoch: into.epoch, source, finite, buffer, maps, weights, ...own };
  post({ type: "scene", scene: made }, [buffer, weights.buffer]);
}

/** The same of weights that somebody has changed; and their loss. */
async function editedScene(
  { epoch, maps, edit }: SceneRequest,
  from: SceneBuilder,
  spare: ArrayBuffer | null,
): Promise<void> {
  if (!edited || edited.number !== edit || !kernel || !loaded || !model) return;
  const { cut, patch } = edited.whatIf;
  const weights = edited.whatIf.weights.slice();
  const into = sceneOver(from.plan, spare ?? undefined);
  const attention = heldIn(run!, epoch);
  const intervention = { ablate: { ...cut, attention }, patch };
  kernel.intervention = intervention;
  const { buffer, finite } = from.build(epoch, weights, maps, into);
  kernel.intervention = NO_INTERVENTION;
  sets ??= examplesOf(loaded, run!);
  const scores = scoresOf(model, weights, await sets, intervention);
  const told = { source: "kept" as const, held: attention !== null };
  const made = { epoch, finite, buffer, maps, weights, edit, scores, ...told };
  post({ type: "scene", scene: made }, [buffer, weights.buffer]);
}

/** The attention that training held at the end of an epoch; null: it was free. */
function heldIn({ details: { config, edits } }: OpenRun, epoch: number): readonly number[] | null {
  const { clamps } = configAt(config, edits, Math.max(0, epoch - 1)).training;
  return clamps.length ? heldAt(clamps, config.task.length, epoch) : null;
}

async function weightsAt(epoch: number): Promise<void> {
  if (!run) throw new ReadableError("No run is open.");
  await run.load(epoch);
  if (run.shownEpoch(epoch) !== epoch)
    throw new ReadableError(`The weights of epoch ${epoch} were not kept.`);
  const weights = run.weights(epoch).slice();
  post({ type: "weights", epoch, weights }, [weights.buffer]);
}

async function examplesOf(from: Kernel, { details }: OpenRun): Promise<SetExamples> {
  const { task, seed, sets: counts } = details;
  const known = async (split: "train" | "test"): Promise<Examples | null> => {
    const count = counts[split];
    if (!count) return null;
    if (!hasOwnData(task)) return from.dataset(task, seed, split, count);
    return workerApi.examples(details, split).catch(() => null);
  };
  return { train: await known("train"), test: await known("test") };
}

/** Waits for the weights of an epoch; whether they are still what is wanted. */
async function fetched(of: OpenRun, epoch: number, request: number): Promise<boolean> {
  post({ type: "waiting", epoch });
  try {
    const why = await of.load(epoch);
    if (why !== null) post({ type: "notReplayable", why });
  } catch (error) {
    if (isAbort(error)) return false;
    throw error;
  }
  return request === scenesAsked;
}

// The worker that owns a run's weights and makes scenes of them. One run for each.

import { ReadableError } from "../model/errors";
import type { Tasks } from "../model/kernel";
import { hasOwnData, sequencesOfClasses, targetsIn } from "../model/own-data";
import { sampledEpochs } from "../model/scene/axis-ranges";
import { runExtents } from "../model/scene/panel-extents";
import { sceneBuilder, type SceneBuilder, type SceneKernel } from "../model/scene/scene";
import { sceneKernel } from "../model/scene/scene-kernel";
import { planeEpoch, sceneOver } from "../model/scene/scene-plan";
import { chooseSequences, MOST_SEQUENCES } from "../model/sequences";
import { isAbort } from "../model/server/api";
import { StoredRun, type LoadedRun } from "../model/server/stored-run";
import { parseRows, parseSequences } from "../model/typed-sequences";
import type { Examples, OwnTask, ScenePlan, Sequences } from "../model/types";
import type { PanelExtents, FromWorker, SceneRequest, ToWorker } from "./protocol";
import { fetchKernel, modelOf } from "./run-kernel";
import { workerApi } from "./worker-api";

const SAMPLED = 64; // epochs that decide fixed axes
const SAMPLED_FAR = 12; // where the weights are too many to fetch them all
const SMALL = 32e6; // bytes of weights
const LARGEST_SET = 64e6; // bytes of sequences in which typed ones are looked for

let run: LoadedRun | null = null;
let tasks: Tasks | null = null;
let kernel: SceneKernel | null = null;
let builder: SceneBuilder | null = null;
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
      return open(message.id, message.sequences);
    case "sequences":
      return post({ type: "sequences", text: message.text, ...(await prepare(message.text)) });
    case "scene":
      return scene(message.request, message.spare);
  }
}

async function open(id: string, sequences: string | null): Promise<void> {
  const [opened, fetched] = await Promise.all([StoredRun.open(workerApi, id), fetchKernel()]);
  run = opened;
  run.onReached = (epoch) => post({ type: "reached", epoch });
  tasks = fetched.tasks;
  kernel = sceneKernel(fetched, modelOf(fetched, opened.details));
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
  return { sequences, plan: builder.plan, extents: await axes(run, builder) };
}

/** Of a run's own data, or typed ones: these have a target if they are in the data. */
async function ownSequences(of: LoadedRun, task: OwnTask, text: string | null): Promise<Sequences> {
  if (text !== null) {
    const rows = parseRows(text, task);
    return sequencesOfClasses(task, rows, targetsIn(await ownExamples(of), rows));
  }
  const { set, tokens, targets } = await workerApi.sequences(of.id, MOST_SEQUENCES);
  return sequencesOfClasses(task, tokens, targets, set);
}

/** The sets of a run, fetched when they are first needed; not those too large for a page. */
async function ownExamples({ details }: LoadedRun): Promise<Examples[]> {
  const bytes = (set: "train" | "test"): number =>
    4 * (details.sets[set] ?? Infinity) * (details.task.length + 1);
  const sets = (["test", "train"] as const).filter((set) => bytes(set) <= LARGEST_SET);
  examples ??= await Promise.all(sets.map((set) => workerApi.examples(details, set)));
  return examples;
}

/** Fixed axes are decided by epochs all over the run; by few where the weights are many to fetch.
 * Where few weights were kept, whole states often were. */
function axes(of: LoadedRun, from: SceneBuilder): Promise<PanelExtents> {
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

async function scene({ epoch, maps }: SceneRequest, spare: ArrayBuffer | null): Promise<void> {
  if (!run || !builder) throw new ReadableError("No run is open.");
  const request = ++scenesAsked;
  if (!run.ready(epoch) && !(await fetched(run, epoch, request))) return;
  run.prefetch(epoch);
  const into = sceneOver(builder.plan, spare ?? undefined);
  const weights = run.weights(epoch).slice();
  const { buffer, finite } = builder.build(run.shownEpoch(epoch), weights, maps, into);
  const made = { epoch: into.epoch, source: run.source(epoch), finite, buffer, maps, weights };
  post({ type: "scene", scene: made }, [buffer, weights.buffer]);
}

/** Waits for the weights of an epoch; whether they are still what is wanted. */
async function fetched(of: LoadedRun, epoch: number, request: number): Promise<boolean> {
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

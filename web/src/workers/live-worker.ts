// The worker that trains. Between slices of a few milliseconds it listens: a pause comes at once.
// What is new is told once for each picture that can be drawn of it.

import { ReadableError } from "../model/errors";
import { LiveRun } from "../model/live/live-run";
import { replayed } from "../model/live/replay-recipe";
import type { Recipe } from "../model/live/run-recipe";
import type { FromLiveWorker, Grown, ToLiveWorker } from "./live-protocol";
import { fetchKernel } from "./run-kernel";
import { trainSeed } from "./seed-training";

const SLICE = 12; // milliseconds
const REPLAY_SLICE = 100; // milliseconds: nobody looks at its epochs
const PICTURE = 16; // milliseconds after which the page can draw another one
const DRAWING = 3; // cores that are busy with the picture alone: page, scenes, the browser itself
const REST = navigator.hardwareConcurrency > DRAWING ? 0 : 0.4; // after a slice, in slices
const MOST_STEPS = 4096; // in one go, whatever was measured

let run: LiveRun | null = null;
let goal: { to: number; pace: number | null; since: number; from: number } | null = null;
let cost = Infinity; // milliseconds of an epoch
let told = { epoch: 0, at: 0 }; // how far the page knows it, since when
const turn = new MessageChannel(); // to go on after whatever the page has said meanwhile
let scheduled = false; // a slice: never two, or training would not rest between them

let answered = Promise.resolve(); // one after the other: a start waits for the kernel

self.onmessage = ({ data }: MessageEvent<ToLiveWorker>): void => {
  answered = answered
    .then(() => answer(data))
    .catch((error: unknown) => {
      goal = null;
      const known = error instanceof ReadableError;
      const message = known ? error.message : `Training failed: ${String(error)}`;
      post({ type: "failed", about: data.type, message });
    });
};

turn.port1.onmessage = () => {
  scheduled = false;
  try {
    slice();
  } catch (error) {
    goal = null;
    post({ type: "failed", about: "train", message: `Training failed: ${String(error)}` });
  }
};

function post(message: FromLiveWorker, transfer: Transferable[] = []): void {
  self.postMessage(message, { transfer });
}

async function answer(message: ToLiveWorker): Promise<void> {
  switch (message.type) {
    case "start":
      return begin(LiveRun.start(await fetchKernel(), message.config, message.seed, message.start));
    case "goOn":
      return begin(LiveRun.goingOn(await fetchKernel(), message.history));
    case "replay":
      return begin(await replayedRun(message.recipe));
    case "train": {
      const now = opened();
      goal = { to: message.to, pace: message.pace, since: performance.now(), from: now.epoch };
      return schedule();
    }
    case "pause":
      goal = null;
      return tell();
    case "step":
      goal = null;
      if (message.by === "epoch") opened().advance(1);
      else opened().advanceSteps(1);
      return tell();
    case "edit":
      opened().setParameters(message.weights);
      return tellChanged();
    case "change":
      opened().change(message.options);
      cost = Infinity;
      return tellChanged();
    case "history": {
      const history = opened().history(message.epoch);
      return post({ type: "history", history });
    }
    case "seed":
      return trainSeed(message.config, message.seed, (report) => post({ type: "seed", report }));
  }
}

/** In slices, of which the page is told. */
async function replayedRun(recipe: Recipe): Promise<LiveRun> {
  const steps = replayed(await fetchKernel(), recipe);
  for (let since = performance.now(); ;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() - since < REPLAY_SLICE) continue;
    post({ type: "replaying", epoch: value });
    await new Promise((go) => setTimeout(go, REST * SLICE));
    since = performance.now();
  }
}

function begin(made: LiveRun): void {
  run?.dispose();
  run = made;
  told = { epoch: made.epoch, at: performance.now() };
  const { parameters, start } = made;
  post({ type: "began", parameters, start, grown: grownFrom(0) });
}

function opened(): LiveRun {
  if (!run) throw new ReadableError("Nothing is being trained.");
  return run;
}

/** As many epochs as fit into a slice and as are due by the pace. */
function slice(): void {
  if (!goal || !run) return;
  const now = performance.now();
  const due = goal.pace === null ? Infinity : goal.from + ((now - goal.since) / 1000) * goal.pace;
  const left = Math.floor(Math.min(goal.to, due)) - run.epoch;
  if (left <= 0 && run.epoch < goal.to) {
    return schedule(4);
  }
  const fitting = Math.max(1, Math.floor(SLICE / cost));
  const before = run.epoch;
  run.advance(Math.max(0, Math.min(left, fitting, MOST_STEPS)));
  const spent = performance.now() - now;
  if (run.epoch > before) cost = spent / (run.epoch - before);
  if (run.epoch >= goal.to || run.diverged !== null) goal = null;
  if (!goal || performance.now() - told.at >= PICTURE) tell();
  if (goal) schedule(REST * spent);
}

/** Another slice, after so many milliseconds. */
function schedule(delay = 0): void {
  if (scheduled) return;
  scheduled = true;
  if (delay) setTimeout(() => turn.port2.postMessage(null), delay);
  else turn.port2.postMessage(null);
}

/** What the page does not know yet. */
function tell(first = told.epoch + 1): void {
  const grown = grownFrom(first);
  told = { epoch: grown.epoch, at: performance.now() };
  post({ type: "grew", grown }, [grown.curves.buffer, grown.weights.buffer]);
}

/** The same after an edit: it replaces the last epoch's weights. */
const tellChanged = (): void => tell(Math.min(told.epoch + 1, opened().epoch));

function grownFrom(first: number): Grown {
  const now = opened();
  const { curves, weights, edits, progress, diverged } = now;
  const { epoch, stepInEpoch, stepsPerEpoch } = progress;
  return {
    first,
    curves: curves.rows(first, epoch + 1).slice(),
    weights: weights.rows(first, epoch + 1).slice(),
    edits: [...edits],
    epoch,
    stepInEpoch,
    stepsPerEpoch,
    between: stepInEpoch ? now.weightsNow : null,
    diverged,
    training: goal !== null,
  };
}

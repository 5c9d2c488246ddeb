// Which runs are on the page: opened, fed with scenes, and closed as the view says.

import { batch, effect, signal, untracked } from "@preact/signals";
import { isSummed, type KeptSum } from "../model/kept-sum";
import { hasOwnData } from "../model/own-data";
import { epochsAround } from "../model/scene/spike-scenes";
import { isAbort } from "../model/server/api";
import { MeasureClient } from "../workers/measure-client";
import type { CircuitNow, FromWorker, SceneParts, SumNow } from "../workers/protocol";
import { receivedScene, SceneClient } from "../workers/scene-client";
import { circuitWorker, sumWorker } from "../workers/start-worker";
import { api } from "./answering";
import type { Numbers } from "../model/types";
import { isOffered } from "./all-runs";
import { followEndSums, forgetEndSum, groupedSequences } from "./end-sums";
import { awaitsShared, isGone, liveEntry, onGrown, type LiveEntry } from "./live-runs";
import { differenceBase } from "./difference";
import { holding } from "./two-epochs";
import {
  change,
  epoch,
  interventionIn,
  loading,
  seek,
  seen,
  slotEpoch,
  slots,
  trouble,
  type Slot,
} from "./page-state";

let opened = ""; // what the page was opened for

/** Follows the view: which runs, which epoch, which maps. */
export function followView(): void {
  effect(() => {
    const [runs, page] = [seen.runs.value, seen.page.value];
    const twice = seen.spike.value !== null || holding.value;
    if (page !== "run" || !runs.length) return;
    if (runs.some(isGone)) {
      if (!awaitsShared.value) untracked(() => leaveGone(runs));
      return;
    }
    const wanted = `${runs.join()} ${twice}`;
    if (wanted !== opened) untracked(() => openAll(wanted, runs, twice));
  });
  effect(() => {
    for (const slot of slots.value) ask(slot);
  });
  effect(holdBefore);
  followEndSums();
}

/** An address, or the way back, may name a run that ended with its page or was forgotten. */
function leaveGone(runs: readonly string[]): void {
  const left = runs.filter((id) => !isGone(id));
  queueMicrotask(() => {
    const why = trouble.value; // it could not be trained again
    change({ runs: left, page: left.length || !isOffered("table") ? "run" : "runs" });
    trouble.value = why ?? "That run was trained in a page and is gone: train it again.";
  });
}

/** Opens what is wanted. What is on the page stays there until that is ready: a person who walks
 * down a list of runs sees one after the other, without a blank page in between. */
function openAll(wanted: string, runs: readonly string[], twice: boolean): void {
  opened = wanted;
  batch(() => {
    loading.value = "Loading the run.";
    trouble.value = null;
  });
  const roles: [string, Slot["role"]][] = twice
    ? [
        [runs[0]!, "before"],
        [runs[0]!, "after"],
      ]
    : runs.map((id) => [id, "run"]);
  const opening = roles.map(([id, role], index) => openSlot(id, role, index));
  Promise.all(opening).then(
    (all) => {
      if (opened !== wanted) return all.forEach(close);
      replace(all);
      all.forEach(analyse);
    },
    (error: Error) => {
      for (const each of opening) each.then(close, () => undefined);
      if (opened !== wanted) return;
      replace([]);
      trouble.value = error.message;
    },
  );
}

function replace(all: readonly Slot[]): void {
  slots.value.forEach(close);
  batch(() => {
    slots.value = all;
    loading.value = null;
  });
}

function openSlot(id: string, role: Slot["role"], index: number): Promise<Slot> {
  const live = liveEntry(id);
  return new Promise((done, fail) => {
    let slot: Slot | null = null;
    const sceneClient = new SceneClient((message) => {
      if (slot) return receive(slot, message);
      if (message.type === "error") {
        sceneClient.close();
        fail(new Error(message.message));
      }
      if (message.type === "opened") {
        done((slot = slotOf(sceneClient, role, index, message, live)));
        if (live) follow(slot, live);
        if (message.trouble) {
          trouble.value = message.trouble;
          change({ sequences: null });
        }
      }
    });
    if (live)
      sceneClient.openLive(live.info, live.weights.rows(0, Infinity).slice(), seen.sequences.value);
    else sceneClient.open(id, seen.sequences.value);
  });
}

const following = new Map<Slot, () => void>(); // how to leave live runs

/** The slot of a run in training has what that has; who looks at its end, sees the new end. */
function follow(slot: Slot, live: LiveEntry): void {
  const take = (first: number, weights: Numbers): void => {
    const atEnd = epoch.peek() >= slot.info.epochs;
    slot.info = live.info;
    slot.curves = live.curves;
    slot.grown.value += 1;
    slot.sceneClient.grow(first, weights, live.info, live.now.peek().between);
    const stays = slot.edited.peek() !== null; // or the change would be lost
    if (atEnd && !stays && slots.peek().includes(slot)) seek(live.info.epochs);
  };
  const had = slot.info.epochs; // it may have grown meanwhile, or this epoch was changed by hand
  take(had, live.weights.rows(had, Infinity).slice()); // of a view, all of its buffer would be sent
  const stops = [
    onGrown(live.id, (_, first, weights) => take(first, weights)),
    effect(() => {
      if (live.now.value.training) return;
      slot.sceneClient.refreshAxes();
      const { weights } = live;
      slot.ending = { epoch: weights.count - 1, weights: weights.rows(weights.count - 1).slice() };
      forgetEndSum(slot);
    }),
  ];
  following.set(slot, () => stops.forEach((stop) => stop()));
}

function close(slot: Slot): void {
  following.get(slot)?.();
  following.delete(slot);
  slot.sceneClient.close();
  slot.circuitClient?.close();
  slot.sumClient?.close();
}

function slotOf(
  sceneClient: SceneClient,
  role: Slot["role"],
  index: number,
  message: FromWorker & { type: "opened" },
  live: LiveEntry | null,
): Slot {
  const circuit = signal<CircuitNow | null>(null);
  const sum = signal<SumNow | null>(null);
  const endSum = signal<KeptSum | null | undefined>(undefined);
  const sequences = signal(message.sequences);
  const { info } = message;
  const { task } = info;
  return {
    index,
    role,
    sceneClient,
    circuitClient: hasOwnData(task)
      ? null
      : new MeasureClient(circuitWorker(), info, task, (found) => (circuit.value = found)),
    sumClient: isSummed(task)
      ? new MeasureClient(sumWorker(), info, task, (found) => (sum.value = found))
      : null,
    held: signal(null),
    live,
    info,
    curves: live?.curves ?? message.curves,
    grown: signal(0),
    ending: message.ending,
    sequences,
    grouped: groupedSequences(sequences, endSum),
    plan: signal(message.plan),
    extents: signal(message.extents),
    mapExtents: signal({}),
    scene: signal(null),
    unedited: signal(null),
    shownWeights: signal(null),
    edited: signal(null),
    answered: signal(0),
    scores: signal(null),
    attentionHeld: signal(false),
    awaited: signal(null),
    reached: signal(null),
    notReplayable: signal(message.info.notReplayable),
    from: signal(null),
    circuit,
    sum,
    endSum,
    analysis: signal(null),
    curvature: signal("none"),
  };
}

function receive(slot: Slot, message: FromWorker): void {
  switch (message.type) {
    case "scene":
      return show(slot, message.scene);
    case "waiting":
      return batch(() => {
        slot.awaited.value = message.epoch;
        slot.reached.value = null;
      });
    case "reached":
      slot.reached.value = message.epoch;
      return;
    case "notReplayable":
      slot.notReplayable.value = message.why;
      return;
    case "axes":
      return batch(() => {
        slot.extents.value = message.extents;
        if (message.plan.dim <= 2) return; // the plane is the same at every epoch
        slot.scene.value = null;
        slot.plan.value = message.plan;
        ask(slot);
      });
    case "sequences":
      return batch(() => {
        slot.scene.value = null;
        slot.sequences.value = message.sequences;
        slot.plan.value = message.plan;
        slot.extents.value = message.extents;
        trouble.value = null;
        change({ sequences: message.text });
        ask(slot);
      });
    case "error":
      trouble.value = message.message;
  }
}

function show(slot: Slot, parts: SceneParts): void {
  const { weights, edit, held, scores } = parts;
  if (isOutdated(slot, edit)) return slot.sceneClient.recycle(parts);
  const scene = receivedScene(slot.plan.value, parts);
  const old = slot.scene.value;
  const changed = edit !== 0 && slot.unedited.value === null;
  const gone = [changed ? null : old, edit ? null : slot.unedited.value];
  batch(() => {
    slot.scene.value = scene;
    slot.unedited.value = !edit ? null : changed ? old : slot.unedited.value;
    slot.answered.value = edit;
    slot.scores.value = scores;
    slot.attentionHeld.value = held;
    if (!edit) slot.shownWeights.value = weights;
    slot.awaited.value = null;
  });
  measure(slot, parts);
  for (const each of gone)
    if (each && !slots.value.some((other) => other.from.value === each))
      slot.sceneClient.recycle(each);
}

/** A change that another has followed is still shown: while somebody drags, they come faster than a
 * large model answers. */
function isOutdated({ edited }: Slot, edit: number): boolean {
  const now = edited.value;
  return edit === 0 ? now !== null : !now || edit < now.first;
}

/** Circuits and sums are those of weights, in a model that computes all of its stages itself. */
function measure(slot: Slot, { epoch, weights }: SceneParts): void {
  if (interventionIn(slot)) return void batch(() => (slot.circuit.value = slot.sum.value = null));
  slot.circuitClient?.want(epoch, weights);
  slot.sumClient?.want(epoch, weights);
}

/** Asks the worker for what the slot should show now. */
function ask(slot: Slot): void {
  const edit = slot.edited.value?.number ?? 0;
  slot.sceneClient.want({ epoch: slotEpoch(slot), maps: slot.mapExtents.value, edit });
}

/** Of two moments of a run the left one stays, and the right one's arrows begin there. */
function holdBefore(): void {
  const [left, right] = slots.value;
  for (const slot of slots.value)
    if (slot.role === "run") slot.from.value = differenceBase(slot, slots.value);
  if (!left || !right || left.role !== "before") return;
  if (holding.value) left.held.value = seen.held.value;
  else holdBeforeSpike(left);
  const { value: scene } = left.scene;
  const there = scene?.epoch === left.held.value || scene?.source === "nearest";
  right.from.value = scene && there ? scene : null;
}

function holdBeforeSpike(left: Slot): void {
  const spike = seen.spike.value;
  if (spike === null) return;
  const { value: analysis } = left.analysis;
  const found = analysis?.spikes?.spikes[spike];
  if (analysis && !found) queueMicrotask(() => leaveSpike(spike));
  if (!found) return;
  const { before, after } = epochsAround(found, left.info);
  untracked(() => {
    if (left.held.value !== before && seen.epoch.value <= before) change({ epoch: after });
    left.held.value = before;
  });
}

/** An address may name a spike that is not there. */
function leaveSpike(spike: number): void {
  change({ spike: null });
  trouble.value = `This run has no spike number ${spike + 1}.`;
}

function analyse(slot: Slot): void {
  if (slot.live) return;
  api.analysis(slot.info.id).then(
    (found) => {
      slot.analysis.value = { ...found, ...slot.analysis.value };
      if (found.curvature) slot.curvature.value = "there";
    },
    (error: Error) => {
      if (!isAbort(error)) trouble.value = error.message;
    },
  );
}

/** What asking for the curvature gives, and costs. */
export const CURVATURE_OFFER = "The exact Hessian at a few epochs of the run: some ten seconds";

export function askCurvature(slot: Slot): void {
  if (slot.curvature.value !== "none") return;
  slot.curvature.value = "asked";
  api.analysis(slot.info.id, true).then(
    (found) => {
      slot.analysis.value = found;
      slot.curvature.value = "there";
    },
    (error: Error) => {
      slot.curvature.value = "none";
      trouble.value = error.message;
    },
  );
}

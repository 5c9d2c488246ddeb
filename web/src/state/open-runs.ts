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
import { followEndSums, groupedSequences } from "./end-sums";
import { holding } from "./two-epochs";
import { change, loading, slotEpoch, slots, trouble, seen, type Slot } from "./page-state";

let opened = ""; // what the page was opened for

/** Follows the view: which runs, which epoch, which maps. */
export function followView(): void {
  effect(() => {
    const [runs, page] = [seen.runs.value, seen.page.value];
    const twice = seen.spike.value !== null || holding.value;
    if (page !== "run" || !runs.length) return;
    const wanted = `${runs.join()} ${twice}`;
    if (wanted !== opened) untracked(() => openAll(wanted, runs, twice));
  });
  effect(() => {
    for (const slot of slots.value) ask(slot);
  });
  effect(holdBefore);
  followEndSums();
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
  Promise.all(roles.map(([id, role], index) => openSlot(id, role, index))).then(
    (all) => {
      if (opened !== wanted) return all.forEach(close);
      replace(all);
      all.forEach(analyse);
    },
    (error: Error) => {
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
  return new Promise((done, fail) => {
    let slot: Slot | null = null;
    const sceneClient = new SceneClient((message) => {
      if (slot) return receive(slot, message);
      if (message.type === "error") {
        sceneClient.close();
        fail(new Error(message.message));
      }
      if (message.type === "opened") {
        done((slot = slotOf(sceneClient, role, index, message)));
        if (message.trouble) {
          trouble.value = message.trouble;
          change({ sequences: null });
        }
      }
    });
    sceneClient.open(id, seen.sequences.value);
  });
}

function close(slot: Slot): void {
  slot.sceneClient.close();
  slot.circuitClient?.close();
  slot.sumClient?.close();
}

function slotOf(
  sceneClient: SceneClient,
  role: Slot["role"],
  index: number,
  message: FromWorker & { type: "opened" },
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
    info,
    curves: message.curves,
    ending: message.ending,
    sequences,
    grouped: groupedSequences(sequences, endSum),
    plan: signal(message.plan),
    extents: signal(message.extents),
    mapExtents: signal({}),
    scene: signal(null),
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
  const { epoch, weights } = parts;
  const scene = receivedScene(slot.plan.value, parts);
  const old = slot.scene.value;
  batch(() => {
    slot.scene.value = scene;
    slot.awaited.value = null;
  });
  slot.circuitClient?.want(epoch, weights);
  slot.sumClient?.want(epoch, weights);
  if (old && !slots.value.some((other) => other.from.value === old)) slot.sceneClient.recycle(old);
}

/** Asks the worker for what the slot should show now. */
function ask(slot: Slot): void {
  slot.sceneClient.want({ epoch: slotEpoch(slot), maps: slot.mapExtents.value });
}

/** Of two moments of a run the left one stays, and the right one's arrows begin there. */
function holdBefore(): void {
  const [left, right] = slots.value;
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

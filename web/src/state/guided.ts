// The guided experiment that is under way: its step, what was found, and what its buttons do.

import { batch, computed, effect, signal } from "@preact/signals";
import { crossingOf } from "../model/guided/crossing";
import type { Action, Changed, Given, ObservedRun, Outcome } from "../model/guided/experiment";
import { experimentNamed } from "../model/guided/experiments";
import IDEAL_HEAD from "../model/guided/ideal-head.json";
import { defaultConfig, withOptions } from "../model/live/live-options";
import type { Config, Numbers, Scene } from "../model/types";
import { isOffered } from "./all-runs";
import { beginRun, startRun } from "./live-control";
import {
  change,
  firstSlot,
  interventionIn,
  openBeside,
  playing,
  seek,
  seen,
  slotEpoch,
  slots,
  tellTrouble,
  type Slot,
} from "./page-state";

export const experiment = computed(() => experimentNamed(seen.guide.value));

/** Of the experiment: which step, and what each check has said last. */
export const guideStep = signal(0);
export const outcomes = signal<Readonly<Record<number, Outcome>>>({});

let notes: Given["notes"] = {};

export function followGuide(): void {
  effect(() => {
    void experiment.value;
    notes = {};
    batch(() => {
      guideStep.value = 0;
      outcomes.value = {};
    });
  });
}

export const openGuide = (name: string): void => change({ guide: name, page: "run" });
/** To the run that is open, or to where one is chosen. */
export function leaveGuide(): void {
  const table = !seen.runs.value.length && isOffered("table");
  change({ guide: null, page: table ? "runs" : "run" });
}

/** Checks the step that is shown; what was typed counts where something was to be. */
export function checkStep(typed = ""): void {
  const task = experiment.value?.steps[guideStep.value]?.task;
  if (!task || "ask" in task) return;
  say(task.check(slots.value.map(observed), { typed, notes }));
}

/** The answer to a question with choices. */
export function choose(choice: number): void {
  const task = experiment.value?.steps[guideStep.value]?.task;
  if (!task || !("ask" in task)) return;
  const { right, why } = task.choices[choice]!;
  say({ done: right, told: why });
}

function say(outcome: Outcome): void {
  notes = { ...notes, ...outcome.notes };
  outcomes.value = { ...outcomes.value, [guideStep.value]: outcome };
}

/** What a step's button does. */
export async function act(action: Action): Promise<void> {
  try {
    await doAction(action);
  } catch (error) {
    tellTrouble(error);
  }
}

async function doAction(action: Action): Promise<void> {
  switch (action.kind) {
    case "seek":
      playing.value = false;
      return seek(action.epoch);
    case "train": {
      const config = withOptions(defaultConfig(), action.options);
      if (!action.beside || !firstSlot.value) return void (await startRun(config, action.seed));
      return void (await startRun(config, action.seed, { open: openBeside }));
    }
    case "ideal":
      return void (await beginRun(defaultConfig(), 0, {
        name: "the ideal head",
        start: Float32Array.from(IDEAL_HEAD),
      }));
    case "third-token": {
      const slot = firstSlot.value;
      if (!slot || slot.live?.now.value.training)
        throw new Error("Let the run train to its end first.");
      if (slot.info.config.task.vocab !== 2)
        throw new Error("This run has its third token already.");
      const { config, start } = await withOneMoreToken(slot);
      return void (await startRun(config, slot.info.seed, { name: "fine-tuned", start }));
    }
  }
}

async function withOneMoreToken({ info, sceneClient }: Slot): Promise<{
  config: Config;
  start: Numbers;
}> {
  const start = await sceneClient.weightsAt(info.epochs);
  return { config: withOptions(info.config, { "task.vocab": info.config.task.vocab + 1 }), start };
}

// ---- what a check sees -------------------------------------------------------------------------
function observed(slot: Slot): ObservedRun {
  const { info, curves, live, circuit, sum } = slot;
  const plain = !slot.edited.value && !interventionIn(slot);
  return {
    config: info.config,
    seed: info.seed,
    epoch: slotEpoch(slot),
    trained: info.epochs,
    training: live?.now.value.training ?? false,
    curves,
    branchedAt: live?.parent?.epoch ?? null,
    changed: changed(slot),
    circuit: plain ? circuit.value : null,
    sum: plain && sum.value?.epoch === slotEpoch(slot) ? sum.value.sum : null,
  };
}

function changed(slot: Slot): Changed | null {
  const edited = slot.edited.value;
  if (!edited) return null;
  const [before, after] = [slot.unedited.value, slot.scene.value];
  const answered = slot.answered.value === edited.number;
  return {
    loss: answered ? (slot.scores.value?.train?.loss ?? null) : null,
    positions: edited.whatIf.cut.positions,
    crossing:
      answered && before && after ? crossingOf(embeddings(before), embeddings(after)) : null,
  };
}

const embeddings = ({ points }: Scene) => ({
  raw: points.sequence,
  normalized: points.sequence_normalized,
});

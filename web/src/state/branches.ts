// Training on from an epoch of a run that is open, with what was changed there: a branch beside it.

import { ReadableError } from "../model/errors";
import { stepsDone } from "../model/live/run-edits";
import { checkChanges, type OptionChanges } from "../model/live/train-on-plan";
import type { Recipe, RecipeChange } from "../model/live/run-recipe";
import type { Config, Numbers } from "../model/types";
import { leaveEdits } from "./what-if";
import {
  branchLive,
  changeLive,
  editLive,
  forgetLive,
  historyOf,
  liveRuns,
  trainLive,
  type LiveEntry,
} from "./live-runs";
import { pace } from "./live-control";
import { replayedBehind } from "./saved-runs";
import { change, isWithinEpoch, slotEpoch, slots, tellTrouble, type Slot } from "./page-state";

/** Goes on from what the slot shows; the branch stands beside its parent. */
export async function trainOn(slot: Slot, changes: OptionChanges = {}): Promise<void> {
  try {
    const [epoch, weights] = [slotEpoch(slot), slot.edited.value?.whatIf.weights ?? null];
    checkChanges(slot.info.config, slot.info.edits, epoch, changes);
    const entry = await branchAt(slot, epoch);
    if (Object.keys(changes).length) changeLive(entry.id, changes);
    if (weights) editLive(entry.id, weights);
    leaveEdits(slot);
    if (slots.value.includes(slot))
      change({ runs: [slot.info.id, entry.id], spike: null, held: null });
    const planned = Math.max(slot.info.epochs, slot.info.config.training.epochs);
    trainLive(entry.id, planned > epoch ? planned : epoch + 100, pace.value);
  } catch (error) {
    tellTrouble(error);
  }
}

/** What a run would be that goes on from here; null: nothing stands in the way. */
export function whyNoBranch(slot: Slot): string | null {
  const { info } = slot;
  if (isWithinEpoch(slot))
    return "The run is in the middle of an epoch: press +1 epoch, then go on from its end.";
  if (info.task.positions === null)
    return "A run with data of its own can be trained on in Python alone: run.trainer(epoch).";
  return kindOf(info.origin) === "import"
    ? "This run was trained by other code, whose state of the optimizer is not known."
    : null;
}

async function branchAt(slot: Slot, epoch: number): Promise<LiveEntry> {
  const why = whyNoBranch(slot);
  if (why) throw new ReadableError(why);
  const name = `branch ${liveRuns.value.filter(({ parent }) => parent).length + 1}`;
  const parent = { id: slot.info.id, epoch };
  const beginning = { name, parent };
  if (slot.live) return branchLive(await historyOf(slot.live.id, epoch), beginning);
  const { record } = slot.info.config;
  const config = { ...slot.info.config, record: { ...record, steps: null, weights_every: 1 } };
  const recipe = await recipeTo(slot, config, epoch);
  const told = `Training the run again, up to epoch ${epoch}.`;
  const known = await slot.sceneClient.weightsAt(epoch); // now: the slot may be closed later
  const twin = await replayedBehind(recipe, beginning, told);
  if (same(known, twin.weights.rows(epoch))) return twin;
  forgetLive(twin.id);
  throw notRepeated(epoch);
}

/** A stored run up to an epoch, with whatever was changed on its way. */
async function recipeTo(
  { info, sceneClient }: Slot,
  config: Config,
  epochs: number,
): Promise<Recipe> {
  const changes: RecipeChange[] = [];
  for (const { epoch, step, options, parameters } of info.edits) {
    if (epoch > epochs) continue;
    if (step !== stepsDone(config, info.edits, epoch)) throw notRepeated(epochs);
    const weights = parameters && (await sceneClient.weightsAt(epoch));
    changes.push({ epoch, step, ...(options && { options }), ...(weights && { weights }) });
  }
  const start = await sceneClient.weightsAt(0);
  return { config, seed: info.seed, start, epochs, changes };
}

const notRepeated = (epoch: number): ReadableError =>
  new ReadableError(
    `The page cannot train this run again up to epoch ${epoch}: not all that was changed on its ` +
      `way is known here. In Python, run.trainer(${epoch}) goes on from it.`,
  );

const same = (a: Numbers, b: Numbers): boolean =>
  a.length === b.length && a.every((value, i) => Object.is(value, b[i]));

function kindOf(origin: unknown): unknown {
  return typeof origin === "object" && origin !== null && "kind" in origin ? origin.kind : null;
}

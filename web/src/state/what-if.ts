// Changing a run by hand: a vector is moved, a part is switched off. Every panel answers; moving on in
// time leaves the change behind, and so does undoing it.

import { batch, effect } from "@preact/signals";
import { ReadableError } from "../model/errors";
import { EditHistory } from "../model/live/edit-history";
import { vectorAt, withVector, type Movable } from "../model/live/weight-edits";
import type { ParameterSlice } from "../model/kernel";
import type { Patch, PatchSite } from "../model/scene/patches";
import type { WhatIf } from "../workers/protocol";
import { isWithinEpoch, playing, slotEpoch, slots, type Slot } from "./page-state";

let numbers = 0;
interface SlotHistory {
  epoch: number;
  first: number; // the number of its first change
  edits: EditHistory<WhatIf>;
}

const histories = new WeakMap<Slot, SlotHistory>();

/** Where each parameter of a run lies in its weights. */
export function parametersOf({ info }: Slot): ParameterSlice[] {
  let offset = 0;
  return Object.entries(info.shapes).map(([name, shape]) => {
    const size = shape.reduce((all, n) => all * n, 1);
    offset += size;
    return { name: name as ParameterSlice["name"], shape, offset: offset - size, size };
  });
}

/** The vector as it is shown now; null: there is no picture yet. */
export function vectorNow(slot: Slot, movable: Movable): Float64Array | null {
  const weights = weightsNow(slot);
  return weights && vectorAt(weights, parametersOf(slot), movable);
}

/** Puts a vector elsewhere. `same`: this goes on with the last change, as a drag does. */
export function moveVector(
  slot: Slot,
  movable: Movable,
  vector: ArrayLike<number>,
  same = false,
): void {
  const { edits } = historyOf(slot) ?? {};
  if (!edits) return;
  const weights = withVector(edits.now.weights, parametersOf(slot), movable, vector);
  edits.do({ ...edits.now, weights }, same);
  tell(slot);
}

/** Gives a vector the value that it has at another epoch. */
export async function takeVector(slot: Slot, movable: Movable, epoch: number): Promise<void> {
  const at = slotEpoch(slot);
  const weights = await slot.sceneClient.weightsAt(epoch);
  if (slotEpoch(slot) === at)
    moveVector(slot, movable, vectorAt(weights, parametersOf(slot), movable));
}

/** Gives every sequence what one of them has at some epoch; null: nothing more. */
export async function setPatch(
  slot: Slot,
  wanted: { site: PatchSite; unit: number; sequence: number; epoch: number } | null,
): Promise<void> {
  const at = slotEpoch(slot);
  const patch = wanted && (await patchOf(slot, wanted));
  const { edits } = historyOf(slot) ?? {};
  if (!edits || slotEpoch(slot) !== at) return;
  edits.do({ ...edits.now, patch });
  tell(slot);
}

async function patchOf(slot: Slot, wanted: Omit<Patch, "tokens" | "weights">): Promise<Patch> {
  const { tokens, length, count } = slot.sequences.value;
  if (wanted.sequence >= count) throw new ReadableError("There is no such sequence.");
  const weights = await slot.sceneClient.weightsAt(wanted.epoch);
  const from = wanted.sequence * length;
  return { ...wanted, weights, tokens: tokens.slice(from, from + length) };
}

/** Switches a position's attention or a hidden unit off, or on again. */
export function toggleCut(slot: Slot, part: "positions" | "hidden", index: number): void {
  const { edits } = historyOf(slot) ?? {};
  if (!edits) return;
  const { cut } = edits.now;
  const others = cut[part].filter((each) => each !== index);
  const next = others.length < cut[part].length ? others : [...others, index].sort((a, b) => a - b);
  if (part === "positions" && next.length >= slot.info.config.task.length) return; // some must stay
  edits.do({ ...edits.now, cut: { ...cut, [part]: next } });
  tell(slot);
}

export function undoEdit(slot: Slot): void {
  histories.get(slot)?.edits.undo();
  tell(slot);
}

export function redoEdit(slot: Slot): void {
  histories.get(slot)?.edits.redo();
  tell(slot);
}

/** The run as it is. */
export function leaveEdits(slot: Slot): void {
  histories.delete(slot);
  if (slot.edited.peek()) slot.edited.value = null;
}

/** A change belongs to the epoch at which it was made. */
export function followEdits(): void {
  effect(() => {
    for (const slot of slots.value) {
      const edited = slot.edited.value;
      if (edited && (edited.epoch !== slotEpoch(slot) || playing.value))
        queueMicrotask(() => leaveEdits(slot));
    }
  });
}

function weightsNow(slot: Slot): WhatIf["weights"] | null {
  return slot.edited.value?.whatIf.weights ?? slot.shownWeights.value;
}

function historyOf(slot: Slot): SlotHistory | null {
  const epoch = slotEpoch(slot);
  const known = histories.get(slot);
  if (known?.epoch === epoch) return known;
  const weights = slot.shownWeights.value;
  if (!weights || slot.scene.value?.epoch !== epoch || isWithinEpoch(slot)) return null; // not yet
  const made = {
    epoch,
    first: numbers + 1,
    edits: new EditHistory<WhatIf>({ weights, cut: { positions: [], hidden: [] }, patch: null }),
  };
  histories.set(slot, made);
  return made;
}

function tell(slot: Slot): void {
  const known = histories.get(slot);
  if (!known) return;
  const { epoch, first, edits } = known;
  const number = ++numbers;
  const { canUndo, canRedo, now: whatIf } = edits;
  slot.sceneClient.setWhatIf(number, whatIf);
  batch(() => (slot.edited.value = { epoch, number, first, whatIf, canUndo, canRedo }));
}

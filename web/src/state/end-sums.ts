// The sum that a run keeps at its end, looked for once sequences are to be coloured by it. Not that
// of the epoch that is shown: colours are to stay while the playhead moves.

import { computed, effect, signal, untracked, type ReadonlySignal } from "@preact/signals";
import { bySum, isSummed, sumHolds, type KeptSum } from "../model/kept-sum";
import type { Sequences } from "../model/types";
import { measureOnce } from "../workers/measure-client";
import { sumWorker } from "../workers/start-worker";
import { seen, slots, type Slot } from "./page-state";

const asked = signal<ReadonlySet<Slot>>(new Set());

/** Looks for the sums of the runs on the page when they are first needed. */
export function followEndSums(): void {
  effect(() => {
    if (seen.colour.value !== "sum") return;
    for (const slot of slots.value) if (!asked.value.has(slot)) untracked(() => ask(slot));
  });
}

/** A run has another end now: its sum is looked for again. */
export function forgetEndSum(slot: Slot): void {
  slot.endSum.value = undefined;
  asked.value = new Set([...asked.peek()].filter((each) => each !== slot));
}

function ask(slot: Slot): void {
  const { info, ending, endSum } = slot;
  asked.value = new Set(
    [...asked.peek().values(), slot].filter((each) => slots.peek().includes(each)),
  );
  if (!isSummed(info.task)) return;
  const request = { run: info, task: info.task, ...ending };
  void measureOnce(sumWorker(), request).then((found) => {
    if (slot.ending === ending) endSum.value = found?.sum ?? null;
  });
}

/** Sequences in the groups that share a colour and stand together: by the sum if that is asked for
 * and one is kept, else as they are. */
export function groupedSequences(
  sequences: ReadonlySignal<Sequences>,
  endSum: ReadonlySignal<KeptSum | null | undefined>,
): ReadonlySignal<Sequences> {
  return computed(() => {
    const [all, sum] = [sequences.value, endSum.value];
    return seen.colour.value === "sum" && sum && sumHolds(sum) ? groupedBy(sum, all) : all;
  });
}

/** Of one value there is one prefix, an empty one, and so one colour. */
function groupedBy(sum: KeptSum, all: Sequences): Sequences {
  const { group, groupNames } = bySum(sum, all);
  return { ...all, group, groupNames, prefix: group, prefixes: groupNames.map(() => NOTHING) };
}

/** Whether it is known that a run keeps no sum at its end to colour by. */
export function keepsNoSum({ endSum: { value } }: Slot): boolean {
  return value === null || (value !== undefined && !sumHolds(value));
}

const NOTHING = new Int32Array(0);

// What is shown as a difference: the right half from the left one, or a changed run from itself.

import { computed } from "@preact/signals";
import { change, seen, slots, type Slot } from "./page-state";

/** Whether two runs have the same things to compare: shapes, and sequences. */
const comparable = computed(() => {
  const [left, right] = slots.value;
  if (!left || !right) return false;
  const [a, b] = [left.sequences.value, right.sequences.value];
  const shapes = [left, right].map(({ info }) => JSON.stringify(info.shapes));
  return (
    shapes[0] === shapes[1] && a.tokens.length === b.tokens.length && sameTokens(a.tokens, b.tokens)
  );
});

const sameTokens = (a: Int32Array, b: Int32Array): boolean => a.every((token, i) => token === b[i]);

/** Whether there is anything whose difference could be shown. */
export const canDiffer = computed(
  () => comparable.value || slots.value.some((slot) => slot.edited.value !== null),
);

export const differing = computed(() => seen.difference.value === "on" && canDiffer.value);

export function toggleDifference(): void {
  if (canDiffer.value) change({ difference: differing.value ? "off" : "on" });
}

/** The slot whose curves another one is compared with. */
export function comparedWith(slot: Slot, all: readonly Slot[]): Slot | null {
  const [left, right] = all;
  return differing.value && comparable.value && right === slot && left !== slot ? left! : null;
}

/** Where the arrows of a slot begin for the sake of a difference; null: nowhere. */
export function differenceBase(slot: Slot, all: readonly Slot[]): Slot["scene"]["value"] {
  if (!differing.value) return null;
  if (slot.edited.value) return slot.unedited.value;
  const other = comparedWith(slot, all);
  return other?.scene.value ?? null;
}

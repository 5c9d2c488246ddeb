// Which weights training leaves alone, from parts as a config spells them: `query`,
// `position_embedding[5:]`, `value[0,1]`. Python checks what people write; these are in its spelling.

import { expected } from "../errors";
import type { ParameterSlice } from "../kernel/model";

const PART = /^(\w+)(?:\[([^[\]]*)\])?$/;

/** Packed, 1 where a weight is frozen; null: none is. */
export function frozenMask(
  frozen: readonly string[],
  parameters: readonly ParameterSlice[],
): Uint8Array | null {
  if (!frozen.length) return null;
  const mask = new Uint8Array(parameters.reduce((size, each) => size + each.size, 0));
  for (const part of frozen) {
    const [, name, index] = PART.exec(part) ?? [];
    const slice = parameters.find((each) => each.name === name);
    if (!slice) throw expected("training.frozen", "parameters of this model", part);
    const axes = index === undefined ? [] : index.split(",");
    freeze(mask, slice.offset, slice.shape, axes, part);
  }
  return mask;
}

function freeze(
  mask: Uint8Array,
  offset: number,
  [size, ...inner]: readonly number[],
  [axis, ...axes]: readonly string[],
  part: string,
): void {
  if (size === undefined) {
    if (axis !== undefined) throw expected("training.frozen", "an index of its shape", part);
    mask[offset] = 1;
    return;
  }
  const step = inner.reduce((all, n) => all * n, 1);
  for (const i of chosenOf(axis ?? ":", size, part))
    freeze(mask, offset + i * step, inner, axes, part);
}

/** The numbers below `size` that an axis of an index names: `3`, `-1`, `2:`, `:8:2`. */
function chosenOf(axis: string, size: number, part: string): number[] {
  const ends = axis.split(":").map((end) => (end.trim() === "" ? null : Number(end)));
  const from = (end: number): number => (end < 0 ? end + size : end);
  const [first = null, stop = null, step = null] = ends;
  const chosen =
    ends.length === 1
      ? [from(first ?? NaN)]
      : range(from(first ?? 0), stop === null ? size : from(stop), step ?? 1);
  if (!chosen.length || !chosen.every((i) => Number.isInteger(i) && i >= 0 && i < size))
    throw expected("training.frozen", "an index that selects weights", part);
  return chosen;
}

function range(first: number, stop: number, step: number): number[] {
  const chosen: number[] = [];
  for (let i = first; i < stop && step > 0; i += step) chosen.push(i);
  return chosen;
}

// What is held at fixed values for some epochs, from clamps as a config spells them:
// `attention[0:5]=0.2@100:200` (src/dynascope/clamped_values.py).

import { expected } from "../errors";
import type { Hold } from "../kernel/trainer";

const CLAMP = /^attention\[([\d:,]+)\]=([^@=]+)@(\d+):(\d+)$/;

export function holdsOf(clamps: readonly string[], length: number): Hold[] {
  const holds = clamps.map((clamp) => holdOf(clamp, length)).sort((a, b) => a.from - b.from);
  holds.slice(1).forEach((hold, i) => {
    if (hold.from < holds[i]!.to)
      throw expected("training.clamps", "clamps one after the other", clamps.join("; "));
  });
  return holds;
}

function holdOf(clamp: string, length: number): Hold {
  const [, mask = "", value = "", first, last] = CLAMP.exec(clamp) ?? [];
  const [positions, from, to] = [positionsOf(mask, length), Number(first), Number(last)];
  const weights = value.split(",").map(Number);
  const attention = new Array<number>(length).fill(0);
  positions.forEach((t, i) => (attention[t] = weights[weights.length === 1 ? 0 : i]!));
  const sum = attention.reduce((all, each) => all + each, 0);
  const fitting = weights.length === 1 || weights.length === positions.length;
  if (!(sum > 0 && sum < Infinity && fitting && weights.every((each) => each >= 0)))
    throw expected("training.clamps", "positions of this model and weights of at least 0", clamp);
  if (!(from < to)) throw expected("training.clamps", "epochs that rise, as in @100:200", clamp);
  return { from, to, attention: attention.map((weight) => weight / sum) };
}

/** What is held at the end of an epoch; null: attention is free. */
export function heldAt(
  clamps: readonly string[],
  length: number,
  epoch: number,
): readonly number[] | null {
  const found = holdsOf(clamps, length).find(({ from, to }) => from < epoch && epoch <= to);
  return found?.attention ?? null;
}

/** `0:5` or `0,3,7`; none where these are not positions of the model. */
function positionsOf(mask: string, length: number): number[] {
  const [, first, end] = /^(\d{1,9}):(\d{1,9})$/.exec(mask) ?? [];
  const all =
    end === undefined
      ? mask.split(",").map((each) => (/^\d{1,9}$/.test(each) ? Number(each) : length))
      : Array.from(
          { length: Math.min(length, Number(end) - Number(first)) },
          (_, i) => Number(first) + i,
        );
  const good = new Set(all).size === all.length && all.every((t) => t < length);
  return good && !(Number(end) > length) ? all : [];
}

// One vector of a model in its packed weights: read, and moved.

import { expected } from "../errors";
import type { ParameterSlice } from "../kernel/model";
import type { ParameterName } from "../kernel/names";
import type { Numbers } from "../types";

/** A vector that a person can take hold of. */
export interface Movable {
  parameter: "token_embedding" | "position_embedding" | "query" | "receptors" | "assemblers";
  index: number; // token, position or hidden unit; of the query 0
}

/** Where its numbers lie: the first, and how far the next is. */
function placeOf(
  parameters: readonly ParameterSlice[],
  { parameter, index }: Movable,
): { at: number; step: number; count: number } {
  const slice = parameters.find((each) => each.name === (parameter satisfies ParameterName));
  if (!slice) throw expected(parameter, "a parameter of this model", parameter);
  const [rows = 1, columns = 1] = slice.shape;
  const place =
    parameter === "query"
      ? { at: slice.offset, step: 1, count: rows, most: 1 }
      : parameter === "assemblers" // [dim, hidden]: a unit is a column
        ? { at: slice.offset + index, step: columns, count: rows, most: columns }
        : { at: slice.offset + index * columns, step: 1, count: columns, most: rows };
  if (!(Number.isInteger(index) && index >= 0 && index < place.most))
    throw expected(parameter, `a number from 0 to ${place.most - 1}`, index);
  return place;
}

/** [dim] */
export function vectorAt(
  weights: Numbers,
  parameters: readonly ParameterSlice[],
  movable: Movable,
): Float64Array {
  const { at, step, count } = placeOf(parameters, movable);
  return Float64Array.from({ length: count }, (_, i) => weights[at + i * step]!);
}

/** The weights with another vector there; the given ones stay. */
export function withVector<Weights extends Numbers>(
  weights: Weights,
  parameters: readonly ParameterSlice[],
  movable: Movable,
  vector: ArrayLike<number>,
): Weights {
  const { at, step, count } = placeOf(parameters, movable);
  const moved = weights.slice() as Weights;
  for (let i = 0; i < count; i++) {
    const value = vector[i]!;
    if (!Number.isFinite(value)) throw expected(movable.parameter, "finite numbers", value);
    moved[at + i * step] = value;
  }
  return moved;
}

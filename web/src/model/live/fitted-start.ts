// The first weights of a run that goes on from another one's: with fresh rows of the embedding where
// it has more tokens. As Python's `fitted_start`, which is what this is compared with.

import { expected } from "../errors";
import type { ParameterSlice } from "../kernel/model";
import type { Numbers } from "../types";

/** `usual`: the weights that the seed gives, whose rows are taken for tokens that are new. */
export function fittedStart(
  start: Numbers,
  usual: Numbers,
  parameters: readonly ParameterSlice[],
): Numbers {
  const missing = usual.length - start.length;
  if (missing === 0) return start;
  const { offset, size, shape } = parameters.find(({ name }) => name === "token_embedding")!;
  if (!(missing > 0 && missing < size && missing % shape[1]! === 0))
    throw expected(
      "start",
      `${usual.length} weights, or fewer rows of the embedding`,
      start.length,
    );
  const end = offset + size - missing; // of the rows that are known
  const fitted = usual.slice();
  fitted.set(start.subarray(0, end));
  fitted.set(start.subarray(end), offset + size);
  return fitted;
}

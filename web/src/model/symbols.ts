// What the paper calls options and parameters: short, for where there is little room.

import type { ParameterName } from "./kernel/names";

/** Options by their last name, as the table of runs has them. */
export const OPTION_SYMBOLS = {
  vocab: "p",
  length: "N",
  relevant: "k",
  dim: "d",
  hidden: "h",
} as const;

export const PARAMETER_SYMBOLS: Readonly<Record<ParameterName, string>> = {
  token_embedding: "E",
  position_embedding: "P",
  query: "q",
  value: "V",
  receptors: "W",
  receptor_bias: "b1",
  assemblers: "U",
  assembler_bias: "b2",
};

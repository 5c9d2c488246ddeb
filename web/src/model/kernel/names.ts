// The names that the module and its users share, in the module's order. They stand here so that
// TypeScript knows them; `checkNames` makes sure that the module has the same.

import { ReadableError } from "../errors";

/** Raised with kernel/wasm.cpp's INTERFACE. */
export const INTERFACE = 2;

export const PARAMETERS = [
  "token_embedding", // E [embeddings, dim]
  "position_embedding", // P [length, dim]
  "query", // q [dim]
  "value", // V [dim, dim]
  "receptors", // W [hidden, dim]
  "receptor_bias", // b1 [hidden]
  "assemblers", // U [dim, hidden]
  "assembler_bias", // b2 [dim]
] as const;
export type ParameterName = (typeof PARAMETERS)[number];

/** Every value between tokens and probabilities; shapes are those of one sequence. */
export const STAGES = [
  "embedding", // [length, dim]: E(x_t) + P(t)
  "normalized", // [length, dim]: z
  "scores", // [length]: z q / sqrt(d)
  "attention", // [length]
  "values", // [length, dim]: V z
  "sequence", // [dim]: xi, the sequence embedding
  "sequence_normalized", // [dim]
  "hidden", // [hidden]: after the activation
  "feed_forward", // [dim]: U hidden + b2
  "output", // [dim]: psi
  "logits", // [embeddings]
  "probabilities", // [embeddings]
] as const;
export type Stage = (typeof STAGES)[number];

/** Measures of a circuit; docs/analysis.md says what each means. */
export const MEASURES = [
  "embedding", // [4]: variance between groups, their prefixes, suffixes; squared length of the mean
  "logits", // [4]: the same, of the logits
  "accuracy",
  "permutation_survival",
  "suffix_survival",
  "attention", // [length]
  "value_spread", // [length]
  "value_size",
  "redraw", // [length]
  "swap", // [relevant, relevant]; NaN where an exchange is not a symmetry
  "without_attention", // [length]: accuracies
  "without_value", // [length]
  "without_unit", // [hidden]
  "clusters", // [4]: their number, gap, diameter; groups looked at
] as const;
export type Measure = (typeof MEASURES)[number];

export const ACTIVATIONS = ["gelu", "relu", "silu"] as const;
export const NORMS = ["rms", "unit", "smooth", "none"] as const;
export const OPTIMIZERS = ["sgd", "adam", "adamw"] as const;
export const SCHEDULES = ["constant", "warmup", "cosine"] as const;

export const TASKS = ["modular-addition", "most-frequent", "products"] as const;
export type TaskName = (typeof TASKS)[number];
export const GROUPINGS = ["multisets", "pairs"] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** The numbers that a trainer is made with. */
export const TRAINING = [
  "optimizer",
  "schedule",
  "lr",
  "momentum",
  "beta1",
  "beta2",
  "eps",
  "weight_decay",
  "clip",
  "mlp_lr_discount",
  "lr_final",
  "warmup",
  "batch",
  "epochs",
  "query_limit",
  "unit_tokens",
  "unit_positions",
] as const;

const PLAIN_CURVES = [
  "train_loss",
  "test_loss",
  "unseen_loss",
  "train_accuracy",
  "test_accuracy",
  "unseen_accuracy",
  "min_norm_embedding",
  "min_norm_sequence",
] as const;
const PARAMETER_CURVES = ["grad_norm", "grad_norm_max", "update_ratio", "full_grad_norm"] as const;
const PLAIN_STEP_CURVES = ["loss", "min_norm_embedding", "min_norm_sequence"] as const;
const PARAMETER_STEP_CURVES = ["grad_norm"] as const;

const perParameter = (name: string): string[] => PARAMETERS.map((p) => `${name}/${p}`);

/** The columns of a row of curves, as Python names them. */
export const CURVES: readonly string[] = [
  ...PLAIN_CURVES,
  ...PARAMETER_CURVES.flatMap(perParameter),
];
/** The columns of a row of step curves. */
export const STEP_CURVES: readonly string[] = [
  ...PLAIN_STEP_CURVES,
  ...PARAMETER_STEP_CURVES.flatMap(perParameter),
];

/** Places in the order of wasm.cpp's tables. */
export const TABLE = { parameter: 0, stage: 1, measure: 2 } as const;
const TABLES: readonly (readonly string[])[] = [
  PARAMETERS,
  STAGES,
  MEASURES,
  ACTIVATIONS,
  NORMS,
  OPTIMIZERS,
  SCHEDULES,
  TRAINING,
  [...PLAIN_CURVES, ...PARAMETER_CURVES],
  [...PLAIN_STEP_CURVES, ...PARAMETER_STEP_CURVES],
  TASKS,
  GROUPINGS,
];

/** Throws unless the module is of this version; `nameOf` gives null beyond a table's last name. */
export function checkNames(
  version: number,
  nameOf: (table: number, i: number) => string | null,
): void {
  const same = (names: readonly string[], table: number): boolean =>
    [...names, null].every((name, i) => nameOf(table, i) === name);
  if (version !== INTERFACE || !TABLES.every(same))
    throw new ReadableError(
      "kernel.wasm: expected the version that this client was built with; run scripts/build-web.",
    );
}

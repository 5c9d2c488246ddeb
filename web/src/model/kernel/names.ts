// The kernel's table: names, types, options. Written by scripts/generate: do not edit.

/** A hash of the table that this was written from; the module must have the same. */
export const CATALOG = 881471294;

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
  "attention", // [length]: softmax of the scores
  "values", // [length, dim]: V z
  "sequence", // [dim]: xi, the sequence embedding
  "sequence_normalized", // [dim]: norm(xi)
  "hidden", // [hidden]: after the activation
  "feed_forward", // [dim]: U hidden + b2
  "output", // [dim]: psi = xi + feed_forward
  "logits", // [embeddings]: E psi
  "probabilities", // [embeddings]: softmax of the logits
] as const;
export type Stage = (typeof STAGES)[number];

/** Measures of a circuit; docs/analysis.md says what each means. */
export const MEASURES = [
  "embedding", // [4]: variances of the sequence embedding (see Share)
  "logits", // [4]: of the logits, centred over classes
  "accuracy", // on all sequences of the design
  "permutation_survival", // how often the prediction survives a permutation
  "suffix_survival", // and a redraw of the irrelevant tokens
  "attention", // [length]: mean attention of each position
  "value_spread", // [length]: root mean square around the position's mean value
  "value_size", // root mean square of all values
  "redraw", // [length]: variance of the sequence embedding from this token alone
  "swap", // [relevant, relevant]: from the order of two relevant tokens
  "without_attention", // [length]: accuracy with this position's attention cut
  "without_value", // [length]: accuracy with its value replaced by the mean over tokens
  "without_unit", // [hidden]: accuracy with this hidden unit cut
  "clusters", // [4]: their number, gap, diameter; groups looked at
] as const;
export type Measure = (typeof MEASURES)[number];

export const TASKS = [
  "modular-addition", // multisets
  "most-frequent", // multisets
  "products", // pairs
] as const;
export type TaskName = (typeof TASKS)[number];

/** What the groups of a task are multisets of. */
export type Grouping = "multisets" | "pairs";
export const TASK_GROUPINGS: Readonly<Record<TaskName, Grouping>> = {
  "modular-addition": "multisets",
  "most-frequent": "multisets",
  "products": "pairs",
};

/** Kinds of sums that a circuit can keep, the simplest first. */
export const SUM_KINDS = [
  "plain",
  "signed",
  "folded",
  "split",
  "two",
  "unexplained",
] as const;
export type SumKind = (typeof SUM_KINDS)[number];

/** Sums are looked for in tasks of at most so many tokens. */
export const MOST_SUMMED = 16;

type Rule = Config["training"]["optimizer"];

/** What the slots of an optimizer's state hold, besides the weights; empty: nothing. */
export const UPDATE_SLOTS: Readonly<Record<Rule, [string, string]>> = {
  sgd: ["momentum", ""],
  adam: ["first_moment", "second_moment"],
  adamw: ["first_moment", "second_moment"],
  lion: ["momentum", ""],
  muon: ["first_moment", "second_moment"],
};

/** The columns of a row of curves, as Python names them. */
export const CURVES: readonly string[] = [
  "train_loss", // on the whole train set, after each epoch
  "test_loss", // on the test set
  "unseen_loss", // on sequences that the train set lacks
  "train_accuracy", // on the whole train set
  "test_accuracy", // on the test set
  "unseen_accuracy", // on sequences that the train set lacks
  "min_norm_embedding", // shortest embedding normalised
  "min_norm_sequence", // shortest sequence embedding
  ...PARAMETERS.map((p) => `grad_norm/${p}`), // mean gradient norm over the epoch's steps
  ...PARAMETERS.map((p) => `grad_norm_max/${p}`), // the largest of them
  ...PARAMETERS.map((p) => `update_ratio/${p}`), // how far the epoch moved it, over its length
  ...PARAMETERS.map((p) => `full_grad_norm/${p}`), // gradient norm on the whole train set
  ...PARAMETERS.map((p) => `weight_norm/${p}`), // length of the parameter after the epoch
];

/** The columns of a row of step curves. */
export const STEP_CURVES: readonly string[] = [
  "loss", // mean over the batch
  "min_norm_embedding", // shortest embedding
  "min_norm_sequence", // shortest sequence embedding
  ...PARAMETERS.map((p) => `grad_norm/${p}`), // gradient norm
];

/** Tables of a config, as Python's `Config.to_dict` writes them. */
export interface Config {
  task: {
    length: number; // tokens in a sequence
    vocab: number; // different tokens
    relevant: number | number[]; // the positions that matter, 0-based and rising
    train_size: number; // sequences to train on
    test_size: number; // sequences to test on
    name: "modular-addition" | "most-frequent" | "products"; // what the target is
  };
  model: {
    dim: number; // length of an embedding
    hidden: number; // hidden units of the feed-forward
    bias: boolean; // whether the feed-forward has biases
    activation: "gelu" | "relu" | "silu" | "tanh"; // of the hidden units
    norm: "rms" | "unit" | "smooth" | "none"; // how vectors are normalised
    norm_eps: number; // added to the length in rms and unit
    norm_tau: number; // length from which on smooth equals rms
    embeddings: number | null; // rows of the token embedding; none: as many as tokens
  };
  training: {
    optimizer: "sgd" | "adam" | "adamw" | "lion" | "muon"; // the rule that moves the weights
    lr: number; // learning rate
    batch: number; // sequences in a step
    epochs: number; // epochs to train
    mlp_lr_discount: number; // divides the feed-forward's learning rate
    frozen: string[]; // parameters, or parts of them, that stay as they are
    momentum: number; // of sgd
    beta1: number; // decay of the first moments
    beta2: number; // decay of the second moments
    eps: number; // added to the root of the second moments
    weight_decay: number; // apart from the gradient in adamw, lion and muon, else part of it
    clip: number | null; // largest norm of the whole gradient; none: any
    schedule: "constant" | "warmup" | "cosine"; // how the learning rate changes
    warmup: number; // steps over which the learning rate rises
    lr_final: number; // where cosine ends
    query_limit: number | null; // largest length of the query after a step; none: any
    unit_rows: string[]; // embeddings whose rows are put back to length 1
    nesterov: boolean; // momentum of sgd that looks one step ahead
    sam: number | null; // how far uphill the gradient of a step is taken (SAM's rho); none: at the weights
    muon_momentum: number; // of the matrices that muon moves
    clamps: string[]; // attention that is held at fixed weights for some epochs
  };
  record: {
    weights_every: number; // epochs between kept weights; 0: first and last
    state_every: number; // epochs between kept states; 0: the last
    gradients: boolean; // gradient norms over the steps of each epoch
    full_gradients: boolean; // gradient norms on the whole train set
    unseen: boolean; // curves on sequences that the train set lacks
    steps: [number, number] | null; // first and last epoch between which every step is kept
  };
  precision: "float32" | "float64";
}

export interface Option {
  name: string; // with its section
  kind: "word" | "whole" | "real" | "flag" | "words" | "positions" | "span" | "parts" | "clamps";
  optional: boolean; // may be null
  kept: boolean; // the kernel takes it
  standard: unknown; // the default
  meaning: string;
  low?: number;
  high?: number | null; // null: no limit; of real numbers it is not allowed itself
  above?: boolean; // `low` itself is not allowed
  words?: readonly string[];
}

export const OPTIONS: readonly Option[] = [
  { name: "task.length", kind: "whole", optional: false, kept: false, standard: 12, meaning: "tokens in a sequence", low: 1, high: 1024, above: false },
  { name: "task.vocab", kind: "whole", optional: false, kept: false, standard: 2, meaning: "different tokens", low: 2, high: 4096, above: false },
  { name: "task.relevant", kind: "positions", optional: false, kept: false, standard: 5, meaning: "the positions that matter, 0-based and rising", low: 0, high: 1024, above: false },
  { name: "task.train_size", kind: "whole", optional: false, kept: false, standard: 2048, meaning: "sequences to train on", low: 1, high: 16777216, above: false },
  { name: "task.test_size", kind: "whole", optional: false, kept: false, standard: 2048, meaning: "sequences to test on", low: 1, high: 16777216, above: false },
  { name: "task.name", kind: "word", optional: false, kept: false, standard: "modular-addition", meaning: "what the target is", words: ["modular-addition", "most-frequent", "products"] },
  { name: "model.dim", kind: "whole", optional: false, kept: true, standard: 2, meaning: "length of an embedding", low: 1, high: 1024, above: false },
  { name: "model.hidden", kind: "whole", optional: false, kept: true, standard: 32, meaning: "hidden units of the feed-forward", low: 1, high: 65536, above: false },
  { name: "model.bias", kind: "flag", optional: false, kept: true, standard: true, meaning: "whether the feed-forward has biases" },
  { name: "model.activation", kind: "word", optional: false, kept: true, standard: "gelu", meaning: "of the hidden units", words: ["gelu", "relu", "silu", "tanh"] },
  { name: "model.norm", kind: "word", optional: false, kept: true, standard: "rms", meaning: "how vectors are normalised", words: ["rms", "unit", "smooth", "none"] },
  { name: "model.norm_eps", kind: "real", optional: false, kept: true, standard: 1e-05, meaning: "added to the length in rms and unit", low: 0, high: null, above: false },
  { name: "model.norm_tau", kind: "real", optional: false, kept: true, standard: 1.0, meaning: "length from which on smooth equals rms", low: 1e-06, high: null, above: false },
  { name: "model.embeddings", kind: "whole", optional: true, kept: true, standard: null, meaning: "rows of the token embedding; none: as many as tokens", low: 2, high: 8192, above: false },
  { name: "training.optimizer", kind: "word", optional: false, kept: true, standard: "adam", meaning: "the rule that moves the weights", words: ["sgd", "adam", "adamw", "lion", "muon"] },
  { name: "training.lr", kind: "real", optional: false, kept: true, standard: 0.003, meaning: "learning rate", low: 0, high: null, above: true },
  { name: "training.batch", kind: "whole", optional: false, kept: true, standard: 32, meaning: "sequences in a step", low: 1, high: 16777216, above: false },
  { name: "training.epochs", kind: "whole", optional: false, kept: true, standard: 1000, meaning: "epochs to train", low: 0, high: 10000000, above: false },
  { name: "training.mlp_lr_discount", kind: "real", optional: false, kept: true, standard: 1.0, meaning: "divides the feed-forward's learning rate", low: 0, high: null, above: true },
  { name: "training.frozen", kind: "parts", optional: false, kept: false, standard: [], meaning: "parameters, or parts of them, that stay as they are" },
  { name: "training.momentum", kind: "real", optional: false, kept: true, standard: 0.0, meaning: "of sgd", low: 0, high: 1, above: false },
  { name: "training.beta1", kind: "real", optional: false, kept: true, standard: 0.9, meaning: "decay of the first moments", low: 0, high: 1, above: false },
  { name: "training.beta2", kind: "real", optional: false, kept: true, standard: 0.999, meaning: "decay of the second moments", low: 0, high: 1, above: false },
  { name: "training.eps", kind: "real", optional: false, kept: true, standard: 1e-08, meaning: "added to the root of the second moments", low: 0, high: null, above: true },
  { name: "training.weight_decay", kind: "real", optional: false, kept: true, standard: 0.0, meaning: "apart from the gradient in adamw, lion and muon, else part of it", low: 0, high: null, above: false },
  { name: "training.clip", kind: "real", optional: true, kept: true, standard: null, meaning: "largest norm of the whole gradient; none: any", low: 0, high: null, above: true },
  { name: "training.schedule", kind: "word", optional: false, kept: true, standard: "constant", meaning: "how the learning rate changes", words: ["constant", "warmup", "cosine"] },
  { name: "training.warmup", kind: "whole", optional: false, kept: true, standard: 0, meaning: "steps over which the learning rate rises", low: 0, high: 9007199254740991, above: false },
  { name: "training.lr_final", kind: "real", optional: false, kept: true, standard: 0.0, meaning: "where cosine ends", low: 0, high: null, above: false },
  { name: "training.query_limit", kind: "real", optional: true, kept: true, standard: null, meaning: "largest length of the query after a step; none: any", low: 0, high: null, above: true },
  { name: "training.unit_rows", kind: "words", optional: false, kept: true, standard: [], meaning: "embeddings whose rows are put back to length 1", words: ["token_embedding", "position_embedding"] },
  { name: "training.nesterov", kind: "flag", optional: false, kept: true, standard: false, meaning: "momentum of sgd that looks one step ahead" },
  { name: "training.sam", kind: "real", optional: true, kept: true, standard: null, meaning: "how far uphill the gradient of a step is taken (SAM's rho); none: at the weights", low: 0, high: null, above: true },
  { name: "training.muon_momentum", kind: "real", optional: false, kept: true, standard: 0.95, meaning: "of the matrices that muon moves", low: 0, high: 1, above: false },
  { name: "training.clamps", kind: "clamps", optional: false, kept: false, standard: [], meaning: "attention that is held at fixed weights for some epochs" },
  { name: "record.weights_every", kind: "whole", optional: false, kept: false, standard: 1, meaning: "epochs between kept weights; 0: first and last", low: 0, high: 10000000, above: false },
  { name: "record.state_every", kind: "whole", optional: false, kept: false, standard: 50, meaning: "epochs between kept states; 0: the last", low: 0, high: 10000000, above: false },
  { name: "record.gradients", kind: "flag", optional: false, kept: false, standard: true, meaning: "gradient norms over the steps of each epoch" },
  { name: "record.full_gradients", kind: "flag", optional: false, kept: false, standard: false, meaning: "gradient norms on the whole train set" },
  { name: "record.unseen", kind: "flag", optional: false, kept: false, standard: false, meaning: "curves on sequences that the train set lacks" },
  { name: "record.steps", kind: "span", optional: true, kept: false, standard: null, meaning: "first and last epoch between which every step is kept", low: 0, high: 10000000, above: false },
  { name: "precision", kind: "word", optional: false, kept: false, standard: "float32", meaning: "of all arithmetic and all records", words: ["float32", "float64"] },
];

// Answers as they come, checked once: a file that the page answers from may have been written by
// anybody. What is refused is so in a sentence.

import { ReadableError } from "../errors";
import { OPTIONS, SUM_KINDS, TASKS } from "../kernel/names";
import { checkedOption, optionOf, withOptions } from "../live/live-options";
import { THRESHOLDS } from "../thresholds";
import type { Config, Examples, RunInfo } from "../types";
import type {
  Analysis,
  RunAnswer,
  RunsAnswer,
  SavedAnswer,
  SequencesAnswer,
  StoreAnswer,
} from "./answers";
import {
  anything,
  finite,
  flag,
  isTable,
  list,
  misshapen,
  orMissing,
  orNull,
  record,
  rising,
  tableOf,
  text,
  whole,
  oneOf,
  type ValueShape,
  type Table,
} from "./shapes";

const MOST_EPOCHS = 1e7;
const LARGEST_ROW = 2 ** 27; // numbers of one row of weights
const LARGEST_TABLE = 2 ** 27; // numbers of all curves
const MOST = 10_000; // things of which there are few
const MANY = 1e6;
const ID = /^[0-9a-zA-Z_-]{1,64}$/;

const name = text(200);
const sentence = text(10_000);
const epoch = whole(0, MOST_EPOCHS);
const maybe = orNull(finite);
const id: ValueShape = (value) => typeof value === "string" && ID.test(value);

type Shapes = Readonly<Record<string, ValueShape>>;

function checked<Answer>(told: unknown, shapes: Shapes, what: string): Answer {
  const wrong = isTable(told) ? misshapen(told, shapes) : "all of it";
  if (wrong !== null) throw damaged(what, wrong);
  return told as Answer;
}

const damaged = (what: string, part: string): ReadableError =>
  new ReadableError(`${what} cannot be shown: what is told of it is damaged (${part}).`);

// ---- the store -----------------------------------------------------------------------------------
const STORE: Shapes = {
  name: text(1000),
  dynascope: name,
  runs: whole(0, MANY * 1000),
  damage: list(sentence, 100),
  shown: record({
    run: orNull(id),
    beside: orNull(id),
    epoch: orNull(epoch),
    view: orMissing(text(20_000)),
  }),
  offers: list(name, 20),
  live: orMissing(flag),
  write: orMissing(name), // the key to save with
};

export const checkedStore = (told: unknown): StoreAnswer => checked(told, STORE, "The folder");

const SAVED: Shapes = { id, epochs: epoch, already: flag };

export const checkedSaved = (told: unknown): SavedAnswer => checked(told, SAVED, "The saved run");

const cell: ValueShape = (value) =>
  value === null || ["string", "number", "boolean"].includes(typeof value);
const cells: ValueShape = (value) => cell(value) || list(cell, MANY)(value);

const THRESHOLD_SHAPES = record(
  Object.fromEntries(Object.keys(THRESHOLDS).map((each) => [each, orMissing(finite)])),
);

const RUNS: Shapes = {
  state: name,
  count: whole(0, MANY),
  left_out: whole(0, Number.MAX_SAFE_INTEGER),
  columns: tableOf(list(cells, MANY), MOST),
  same: tableOf(cells, MOST),
  shares: list(name, MOST),
  thresholds: THRESHOLD_SHAPES,
};

export function checkedRuns(told: unknown): RunsAnswer {
  const answer = checked<RunsAnswer>(told, RUNS, "The table");
  const uneven = Object.entries(answer.columns).find(([, all]) => all.length !== answer.count);
  if (uneven) throw damaged("The table", uneven[0].slice(0, 40));
  return answer;
}

// ---- a run ---------------------------------------------------------------------------------------
const RUN: Shapes = {
  id,
  seed: whole(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  epochs: epoch,
  diverged: orNull(epoch),
  last_sound_epoch: whole(-1, MOST_EPOCHS),
  config: isTable,
  embeddings: whole(1, 2 ** 20),
  shapes: tableOf(list(whole(1, LARGEST_ROW), 4), 100),
  size: whole(1, LARGEST_ROW),
  weight_epochs: orNull(rising(0, MOST_EPOCHS)),
  state_epochs: orNull(rising(0, MOST_EPOCHS)),
  not_replayable: orNull(sentence),
  curves: list(name, 1000),
  sets: orNull(record({ train: orNull(whole(0, 2 ** 31)), test: orNull(whole(0, 2 ** 31)) })),
  tags: orNull(list(sentence, MOST)),
  note: orNull(text(MANY)),
  summary: tableOf(maybe, MOST),
  found: orNull(tableOf(anything, MOST)),
  thresholds: THRESHOLD_SHAPES,
  notes: list(sentence, MOST),
};

/** `asked`: the run that it must be of. */
export function checkedRun(told: unknown, asked: string): RunAnswer {
  const answer = checked<RunAnswer>(told, RUN, "The run");
  const config = completeConfig(answer.config);
  const wrong = (part: string): ReadableError => damaged("The run", part);
  if (answer.id !== asked) throw wrong("id");
  if (!taskShape(config)(answer.task)) throw wrong("task");
  if (sizeOf(answer.shapes) !== answer.size) throw wrong("shapes");
  if (answer.curves.length * (answer.epochs + 1) > LARGEST_TABLE) throw wrong("curves");
  if ((answer.weight_epochs?.at(-1) ?? 0) > answer.epochs) throw wrong("weight_epochs");
  return { ...answer, config };
}

/** Numbers in a row of all parameters. */
const sizeOf = (shapes: Readonly<Record<string, number[]>>): number =>
  Object.values(shapes).reduce((all, shape) => all + shape.reduce((a, n) => a * n, 1), 0);

/** Every option that is known here; what an earlier version did not have has its default. */
function completeConfig(told: unknown): Config {
  const sections = { task: {}, model: {}, training: {}, record: {}, ...(told as Table) };
  const { task, model, training, record: kept } = sections;
  if (![task, model, training, kept].every(isTable)) throw damaged("The run", "config");
  const values = OPTIONS.map((option): [string, unknown] => {
    const value = optionOf(sections as unknown as Config, option.name);
    return [option.name, value === undefined ? option.standard : checkedOption(option, value)];
  });
  return withOptions({} as Config, Object.fromEntries(values));
}

function taskShape({ task }: Config): ValueShape {
  const known = record({ name: oneOf(TASKS), positions: rising(0, task.length - 1) });
  const own = record({ name, positions: orNull(list(anything, 0)), classes: whole(1, 2 ** 20) });
  return orNull((value) => known(value) || (own(value) && maybe((value as Table)["chance"])));
}

/** Sequences that the run's model can read. */
export function checkedSequences(told: unknown, run: RunInfo): SequencesAnswer {
  const { length, vocab } = run.config.task;
  const row: ValueShape = (value) =>
    list(whole(0, vocab - 1), length)(value) && (value as number[]).length === length;
  const shapes = {
    set: oneOf(["train", "test"]),
    tokens: list(row, 1000),
    targets: list(whole(0, classesOf(run) - 1), 1000),
  };
  const answer = checked<SequencesAnswer>(told, shapes, "The data");
  if (answer.tokens.length !== answer.targets.length) throw damaged("The data", "targets");
  return answer;
}

export function checkExamples({ tokens, targets }: Examples, run: RunInfo): void {
  const below = (numbers: Int32Array, end: number): boolean =>
    numbers.every((each) => each >= 0 && each < end);
  if (!below(tokens, run.config.task.vocab)) throw damaged("The data", "tokens");
  if (!below(targets, classesOf(run))) throw damaged("The data", "targets");
}

const classesOf = ({ task, embeddings }: RunInfo): number =>
  task.positions === null ? task.classes : embeddings;

// ---- its analysis --------------------------------------------------------------------------------
const drop = record({ epoch: finite, start: finite, end: finite, size: finite });
const maybes = list(maybe, MANY);

const SPIKE = record({
  start: epoch,
  peak: epoch,
  duration: epoch,
  before: maybe,
  height: maybe,
  recovery: orNull(epoch),
  small: flag,
  cause: orNull(
    record({
      verdict: name,
      confirmed: orNull(flag),
      epoch: epoch,
      step: whole(0, Number.MAX_SAFE_INTEGER),
      steps: whole(0, Number.MAX_SAFE_INTEGER),
    }),
  ),
  unexplained: orNull(sentence),
  told: record({ headline: sentence, lines: list(sentence, 100) }),
});

const CURVATURE = record({
  epoch,
  loss: maybe,
  gradient_norm: maybe,
  sharpness: maybe,
  preconditioned: maybe,
  sharpness_limit: maybe,
  unstable: orNull(flag),
  spectrum: record({
    eigenvalues: list(maybe, MANY),
    tolerance: maybe,
    negative: epoch,
    zero: epoch,
    positive: epoch,
    complete: flag,
  }),
  told: sentence,
});

const ANALYSIS: Shapes = {
  sum: record({
    sum_kind: oneOf(SUM_KINDS),
    sum_formula: sentence,
    told: sentence,
    holds: flag,
  }),
  circuit: record({
    accuracy: maybe,
    relevant_attention: maybe,
    clusters: maybe,
    expected_clusters: finite,
    permutation_survival: maybe,
    suffix_survival: maybe,
    embedding: orNull(
      record({ between: finite, permutation: finite, suffix: finite, variance: finite }),
    ),
    verdict: record({
      name,
      margin: maybe,
      decided_by: sentence,
      breaks_permutation: list(epoch, MOST),
      breaks_suffix: list(epoch, MOST),
    }),
  }),
  phases: record({
    drops: list((value) => drop(value) && record({ seen_by: list(name, 20) })(value), MOST),
    by_slope: list(drop, MOST),
    clustered_epoch: orNull(epoch),
    fitted_epoch: orNull(epoch),
    lead: maybe,
    snapshots: record({
      before: epoch,
      clustered: orNull(epoch),
      partly_classified: orNull(epoch),
      fitted: orNull(epoch),
    }),
    measured_to: epoch,
    told: sentence,
  }),
  spikes: record({ spikes: list(SPIKE, MOST), last_epoch: epoch, diverged: orNull(epoch) }),
  shares: record({
    epochs: rising(0, MOST_EPOCHS),
    between: maybes,
    permutation: maybes,
    suffix: maybes,
  }),
  story: list(
    record({ epoch, kind: name, caption: sentence, text: sentence, panels: list(name, 50) }),
    1000,
  ),
  notes: tableOf(sentence, 100),
  curvature: list(CURVATURE, 100),
  plateaus: list(record({ start: epoch, end: epoch, epoch, told: sentence }), MOST),
};

const NONE: Readonly<Record<string, unknown>> = {
  ...{ sum: null, circuit: null, phases: null, spikes: null, shares: null, notes: {} },
};

/** Parts that make no sense are left out: the run can be looked at without them. */
export function checkedAnalysis(told: unknown): Analysis {
  if (!isTable(told)) throw damaged("The analysis", "all of it");
  const parts = Object.keys(ANALYSIS).filter(
    (part) => Object.hasOwn(told, part) && ANALYSIS[part]!(told[part]),
  );
  const sound = Object.fromEntries(parts.map((part) => [part, told[part]]));
  const found = { ...NONE, ...sound } as unknown as Analysis;
  const { shares } = found;
  const even = shares && [shares.between, shares.permutation, shares.suffix];
  if (even?.some((all) => all.length !== shares!.epochs.length)) found.shares = null;
  return found;
}

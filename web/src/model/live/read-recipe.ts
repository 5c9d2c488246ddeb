// A recipe from a file that anybody may have written. All of it is checked before anything runs, and
// what is refused is so in a sentence. As Python reads it (src/dynascope/store/recipe.py).

import { expected, ReadableError } from "../errors";
import { bytesOf } from "../kernel/heap";
import { OPTIONS } from "../kernel/names";
import { bytesOfBase64 } from "../server/base64";
import type { Config, Numbers } from "../types";
import { checkConfig, checkedOption, optionNamed, withOptions } from "./live-options";
import { configAt, stepsDone } from "./run-edits";
import { RECIPE_FORMAT, type Recipe, type RecipeChange } from "./run-recipe";
import { checkChanges } from "./train-on-plan";

export const LARGEST_RECIPE = 2 ** 24; // bytes of a file; as `recipe_plan.py` has it, and the next
const MOST_CHANGES = 1000;
const MOST_EPOCHS = 1e7;
const LARGEST_RUN = 2 ** 30; // bytes of all weights: each epoch's are kept
const MOST_WORK = 1e13; // weights used: an hour or more of training
const KEYS = ["dynascope", "recipe", "config", "seed", "start", "epochs", "changes"];
const CHANGE_KEYS = ["epoch", "step", "options", "weights"];

type Table = Readonly<Record<string, unknown>>;

export function readRecipe(text: string): Recipe {
  if (text.length > LARGEST_RECIPE)
    throw new ReadableError("The file is too large for a saved run.");
  let told: unknown;
  try {
    told = JSON.parse(text);
  } catch {
    throw new ReadableError("This is not a saved run: expected JSON.");
  }
  return recipeFrom(told);
}

/** The same of JSON that was read already. */
export function recipeFrom(told: unknown): Recipe {
  const table = tableOf(told, "a saved run", KEYS);
  if (whole(table, "recipe", 1, 2 ** 31) > RECIPE_FORMAT)
    throw new ReadableError("The run was saved by a later version of dynascope; use a newer one.");
  const config = configFrom(table["config"]);
  const seed = whole(table, "seed", 0, Number.MAX_SAFE_INTEGER);
  const epochs = whole(table, "epochs", 0, MOST_EPOCHS);
  checkWork(config, epochs);
  const start = table["start"] === undefined ? null : weightsFrom(table["start"], "start", config);
  const { changes: list } = table;
  if (!Array.isArray(list) || list.length > MOST_CHANGES)
    throw expected("changes", `a list of at most ${MOST_CHANGES}`, list);
  const changes: RecipeChange[] = [];
  for (const each of list) changes.push(changeFrom(each, config, changes, epochs));
  return { config, seed, start, epochs, changes };
}

/** What is missing has its default. */
function configFrom(told: unknown): Config {
  const sections = [...new Set(OPTIONS.map(({ name }) => name.split(".")[0]!))];
  const tables = tableOf(told, "config", sections);
  const given = Object.entries(tables).flatMap(([section, value]) =>
    OPTIONS.some(({ name }) => name === section)
      ? [[section, value] as const]
      : Object.entries(tableOf(value, section)).map(
          ([name, each]) => [`${section}.${name}`, each] as const,
        ),
  );
  const all: [string, unknown][] = OPTIONS.map(({ name, standard }) => [name, standard]);
  const chosen = given.map(([name, value]) => [name, checkedOption(optionNamed(name), value)]);
  return checkConfig(withOptions({} as Config, Object.fromEntries([...all, ...chosen])));
}

/** Changes come one after the other, those of options at the end of an epoch. */
function changeFrom(
  told: unknown,
  config: Config,
  before: readonly RecipeChange[],
  epochs: number,
): RecipeChange {
  const table = tableOf(told, "changes", CHANGE_KEYS);
  const last = before.at(-1) ?? { epoch: 0, step: 0 };
  const epoch = whole(table, "epoch", last.epoch, epochs);
  const ended = (at: number): number => stepsDone(config, before, at);
  const step = whole(table, "step", Math.max(last.step, ended(epoch)), ended(epoch + 1) - 1);
  const options = table["options"] === undefined ? null : optionsFrom(table["options"]);
  if (options && step !== ended(epoch))
    throw expected("changes", "options that change at the end of an epoch", step);
  if (options) checkChanged(config, before, { epoch, step, options });
  const { weights } = table;
  if (!options && weights === undefined)
    throw expected("changes", "options or weights in each of them", epoch);
  if (epoch === epochs && step !== ended(epoch))
    throw expected("changes", `weights that change before epoch ${epochs} has ended`, step);
  return {
    ...{ epoch, step },
    ...(options && { options }),
    ...(weights !== undefined && { weights: weightsFrom(weights, "weights", config) }),
  };
}

function optionsFrom(told: unknown): Table {
  const given = Object.entries(tableOf(told, "options"));
  return Object.fromEntries(
    given.map(([name, value]) => {
      if (!name.startsWith("training.") || name === "training.epochs")
        throw expected("options", "options of training", name);
      return [name, checkedOption(optionNamed(name), value)];
    }),
  );
}

function checkChanged(
  config: Config,
  before: readonly RecipeChange[],
  change: RecipeChange & { options: Table },
): void {
  checkChanges(config, before, change.epoch, change.options);
  checkConfig(configAt(config, [...before, change], change.epoch));
}

function checkWork(config: Config, epochs: number): void {
  const size = weightCount(config);
  const { train_size, test_size, length } = config.task;
  const kept = (epochs + 1) * size * bytesOf(config.precision);
  const work = epochs * (train_size + test_size) * (size + length * config.model.dim);
  if (kept > LARGEST_RUN || work > MOST_WORK)
    throw new ReadableError(
      "This run is too large to train again in a page: open it in Python, by ds.load.",
    );
}

/** Numbers in one row of weights. */
function weightCount({ task, model }: Config): number {
  const { dim, hidden, bias } = model;
  const rows = (model.embeddings ?? task.vocab) + task.length + 1 + dim + 2 * hidden;
  return rows * dim + (bias ? hidden + dim : 0);
}

function weightsFrom(told: unknown, field: string, config: Config): Numbers {
  const size = weightCount(config);
  const what = `${size} finite numbers of ${config.precision}`;
  const bytes = typeof told === "string" ? bytesOr(told) : null;
  if (bytes?.length !== size * bytesOf(config.precision)) throw expected(field, what, told);
  const weights =
    config.precision === "float64"
      ? new Float64Array(bytes.buffer)
      : new Float32Array(bytes.buffer);
  if (!weights.every(Number.isFinite)) throw expected(field, what, "others");
  return weights;
}

function bytesOr(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return bytesOfBase64(text);
  } catch {
    return null;
  }
}

function tableOf(told: unknown, field: string, keys: readonly string[] | null = null): Table {
  if (typeof told !== "object" || told === null || Array.isArray(told))
    throw expected(field, "a table", told);
  const strange = Object.keys(told).find((key) => keys && !keys.includes(key));
  if (strange !== undefined) throw expected(field, `${keys!.join(", ")}`, strange);
  return told as Table;
}

function whole(table: Table, name: string, low: number, high: number): number {
  const value = table[name];
  if (Number.isSafeInteger(value) && (value as number) >= low && (value as number) <= high)
    return value as number;
  throw expected(name, `a whole number from ${low} to ${high}`, value);
}

// Options as a person types them: what each accepts, in Python's words, and configs made of them.

import { expected } from "../errors";
import { holdsOf } from "./clamps";
import { OPTIONS, type Option } from "../kernel/names";
import type { Config } from "../types";

type Table = Record<string, unknown>;

const MOST_PARTS = 1000; // of a list of clamps or of parts
const LONGEST_PART = 10_000; // characters of one

/** Every option at its default. */
export function defaultConfig(): Config {
  return withOptions({} as Config, Object.fromEntries(OPTIONS.map((o) => [o.name, o.standard])));
}

/** A config with other options, by their whole names. */
export function withOptions(config: Config, changes: Readonly<Table>): Config {
  const tables = structuredClone(config) as unknown as Record<string, Table>;
  for (const [name, value] of Object.entries(changes)) {
    const [section, option] = name.split(".") as [string, string | undefined];
    if (option === undefined) tables[section] = value as Table;
    else (tables[section] ??= {})[option] = value;
  }
  return tables as unknown as Config;
}

export function optionNamed(name: string): Option {
  const found = OPTIONS.find((each) => each.name === name);
  if (!found) throw expected(name, "an option", name);
  return found;
}

export function optionOf(config: Config, name: string): unknown {
  const [section, option] = name.split(".") as [keyof Config, string | undefined];
  const table = config[section] as unknown;
  return option === undefined ? table : (table as Table)[option];
}

/** What an option accepts, to follow "expected". */
export function accepted(option: Option): string {
  const told = acceptedOf(option);
  return option.optional ? `none or ${told}` : told;
}

function acceptedOf({ kind, low = 0, high = null, above, words = [] }: Option): string {
  const quoted = words.map((word) => `'${word}'`).join(", ");
  switch (kind) {
    case "whole":
      return `a whole number from ${low} to ${high}`;
    case "real": {
      const bounds = `${above ? "above" : "of at least"} ${low}`;
      return `a finite number ${bounds}${high === null ? "" : ` and below ${high}`}`;
    }
    case "flag":
      return "true or false";
    case "word":
      return `one of ${quoted}`;
    case "words":
      return `a list of any of ${quoted}`;
    case "positions":
      return "a number of leading positions (1 or more) or a list of distinct 0-based positions";
    case "span":
      return "two whole numbers (a, b) with 0 <= a < b";
    case "clamps":
      return "a list of clamps such as 'attention[0:5]=0.2@100:200', one after the other";
    case "parts":
      return "a list of parameter names, each with an optional index as in 'value[0,1]'";
  }
}

/** The value that a text stands for; refused in a sentence that says what is accepted. */
export function readOption(option: Option, text: string): unknown {
  const value = valueOf(option, text.trim());
  if (!isValue(option, value)) throw expected(option.name, accepted(option), text);
  return value;
}

/** The same for a value that comes from a file. */
export function checkedOption(option: Option, value: unknown): unknown {
  if (!isValue(option, value)) throw expected(option.name, accepted(option), value);
  return value;
}

/** undefined: it stands for nothing. */
function valueOf({ kind, optional, words = [] }: Option, text: string): unknown {
  if (optional && (text === "" || text === "none")) return null;
  switch (kind) {
    case "whole":
      return /^\d{1,16}$/.test(text) ? Number(text) : undefined;
    case "real":
      return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) + 0 : undefined;
    case "flag":
      return text === "true" ? true : text === "false" ? false : undefined;
    case "word":
      return text;
    case "words": {
      const chosen = text === "" ? [] : text.split(/[\s,;]+/);
      const known = chosen.every((word) => words.includes(word));
      return known ? words.filter((word) => chosen.includes(word)) : undefined;
    }
    case "positions":
      return positionsOf(text);
    case "clamps":
    case "parts":
      return text === "" ? [] : text.split(/\s*;\s*/);
    case "span":
      return undefined;
  }
}

/** Whether an option may have a value. */
export function isValue(option: Option, value: unknown): boolean {
  const { kind, optional, low = 0, above, words = [] } = option;
  const high = option.high ?? Infinity;
  const isWhole = (each: unknown, least = low): each is number =>
    Number.isSafeInteger(each) && (each as number) >= least && (each as number) <= high;
  if (value === null) return optional;
  switch (kind) {
    case "whole":
      return isWhole(value);
    case "real":
      return typeof value === "number" && (above ? value > low : value >= low) && value < high;
    case "flag":
      return typeof value === "boolean";
    case "word":
      return typeof value === "string" && words.includes(value);
    case "words":
      return isTexts(value) && value.every((each) => words.includes(each));
    case "positions":
      if (!Array.isArray(value)) return isWhole(value, 1);
      return value.length > 0 && value.every((each, i) => isWhole(each) && !(each <= value[i - 1]));
    case "clamps":
    case "parts":
      return isTexts(value);
    case "span":
      return Array.isArray(value) && value.length === 2 && value.every((each) => isWhole(each));
  }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length <= MOST_PARTS &&
  value.every((each) => typeof each === "string" && each.length <= LONGEST_PART);

/** "5" or "0, 3, 7"; a list that spells the first k is k. */
function positionsOf(text: string): number | number[] | undefined {
  const numbers = text.split(/[\s,]+/).map((each) => (/^\d{1,9}$/.test(each) ? Number(each) : NaN));
  if (!/,/.test(text)) return numbers[0];
  const rising = [...new Set(numbers)].sort((a, b) => a - b);
  if (rising.length < numbers.length) return undefined;
  return rising.every((n, i) => n === i) ? rising.length : rising;
}

/** An option's value as a person would type it: parts and clamps have commas within. */
export function optionText(value: unknown): string {
  if (value === null) return "";
  if (!Array.isArray(value)) return String(value);
  return value.join(value.some((each) => typeof each === "string") ? "; " : ", ");
}

/** Refuses what no run can have: options that do not go with each other. */
export function checkConfig(config: Config): Config {
  const { task, model, training } = config;
  const refuse = (field: string, what: string, got: unknown): never => {
    throw expected(field, what, got);
  };
  const most = typeof task.relevant === "number" ? task.relevant : task.relevant.at(-1)! + 1;
  if (most > task.length)
    refuse("task.relevant", `at most task.length = ${task.length}`, task.relevant);
  if (training.batch > task.train_size)
    refuse("training.batch", `at most task.train_size = ${task.train_size}`, training.batch);
  if (model.embeddings !== null && model.embeddings < task.vocab)
    refuse("model.embeddings", `none or at least task.vocab = ${task.vocab}`, model.embeddings);
  if (training.lr_final > training.lr)
    refuse("training.lr_final", `at most training.lr = ${training.lr}`, training.lr_final);
  holdsOf(training.clamps, task.length);
  return config;
}

// A form's options as texts, and what they make together.

import { useState } from "preact/hooks";
import { ReadableError } from "../model/errors";
import {
  checkConfig,
  optionNamed,
  optionOf,
  optionText,
  readOption,
  withOptions,
} from "../model/live/live-options";
import type { Config } from "../model/types";

export interface OptionTexts {
  text(name: string): string;
  set(name: string, text: string): void;
  refusals: Readonly<Record<string, string>>; // by option
  config: Config | null; // null: something is refused
}

/** The texts of some options; all others are as the config has them. */
export function useOptionTexts(start: Config, names: readonly string[]): OptionTexts {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const text = (name: string): string => texts[name] ?? optionText(optionOf(start, name));
  const { config, refusals } = madeOf(start, names, text);
  return {
    text,
    set: (name, typed) => setTexts({ ...texts, [name]: typed }),
    refusals,
    config,
  };
}

function madeOf(
  start: Config,
  names: readonly string[],
  text: (name: string) => string,
): Pick<OptionTexts, "config" | "refusals"> {
  const refusals: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  for (const name of names)
    try {
      values[name] = readOption(optionNamed(name), text(name));
    } catch (error) {
      refusals[name] = sentenceOf(error);
    }
  if (Object.keys(refusals).length) return { config: null, refusals };
  try {
    return { config: checkConfig(withOptions(start, values)), refusals };
  } catch (error) {
    const said = sentenceOf(error);
    return { config: null, refusals: { [said.split(":")[0]!]: said } };
  }
}

/** What was read, or why it is refused. */
export function readOr<Value>(read: () => Value): { value: Value | null; refused: string | null } {
  try {
    return { value: read(), refused: null };
  } catch (error) {
    return { value: null, refused: sentenceOf(error) };
  }
}

function sentenceOf(error: unknown): string {
  if (error instanceof ReadableError) return error.message;
  throw error;
}

// Options as the kernel takes them: numbers in the order of its table (see kernel/checks.hpp).

import { expected } from "../errors";
import { type Option, OPTIONS } from "./names";

/** A number for each option of a section that the kernel keeps. */
export function optionNumbers(section: string, options: object): number[] {
  const given = options as Readonly<Record<string, unknown>>;
  return OPTIONS.filter((option) => option.kept && option.name.startsWith(`${section}.`)).map(
    (option) => numberOf(option, given[option.name.slice(section.length + 1)]),
  );
}

/** Whether an option, by its whole name, has its default. */
export function isStandard(name: string, value: unknown): boolean {
  const option = OPTIONS.find((each) => each.name === name);
  return JSON.stringify(option?.standard) === JSON.stringify(value);
}

/** Flags are 0 or 1, a word its place in the list, several words bits, null is NaN. */
function numberOf({ name, kind, words = [] }: Option, value: unknown): number {
  if (value === null || value === undefined) return NaN;
  if (kind === "word") {
    const place = words.indexOf(value as string);
    if (place < 0) throw expected(name, `one of ${words.join(", ")}`, value);
    return place;
  }
  if (kind === "words")
    return words.reduce(
      (bits, word, i) => bits + ((value as string[]).includes(word) ? 1 << i : 0),
      0,
    );
  return Number(value);
}

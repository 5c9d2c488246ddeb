// How the table of runs shows its columns.

import type { Cell, Columns } from "./run-filter";

/** Columns of numbers alone (of those that are there): they stand right, digit below digit. */
export function numericColumns(columns: Columns): ReadonlySet<string> {
  return new Set(Object.keys(columns).filter((name) => isNumeric(columns[name] ?? [])));
}

function isNumeric(cells: readonly Cell[]): boolean {
  const there = cells.filter((cell) => cell !== null);
  return there.length > 0 && there.every((cell) => typeof cell === "number");
}

/** Names that the files keep although people read other words. */
const HEADINGS: Readonly<Record<string, string>> = {
  sum_kind: "sum",
  between_share: "multiset share",
  permutation_share: "ordering share",
  suffix_share: "irrelevant tokens share",
  permutation_survival: "survives reordering",
  suffix_survival: "survives new irrelevant tokens",
  relevant_attention: "attention on relevant",
};

/** What stands above a column. */
export const headingOf = (column: string): string =>
  HEADINGS[column] ?? column.replaceAll("_", " ");

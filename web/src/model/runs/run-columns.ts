// How the table of runs shows its columns.

import { percent, short } from "../number-text";
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

const SPARSITY = /^sparsity_(\d+(?:_\d+)?)$/; // of a limit, whose point is spelt as an underscore

/** What stands above a column. */
export function headingOf(column: string): string {
  const [, limit] = SPARSITY.exec(column) ?? [];
  if (limit) return `sparsity < ${limit.replace("_", ".")}`;
  return HEADINGS[column] ?? column.replaceAll("_", " ");
}

/** What stands in a cell; a share is told in percent. */
export function cellText(cell: Cell, share = false): string {
  if (cell === null) return "–";
  if (Array.isArray(cell)) return cell.map((part) => cellText(part)).join(", ");
  if (share && typeof cell === "number") return percent(cell);
  if (Number.isInteger(cell)) return String(cell); // a seed or a size is not rounded
  return typeof cell === "number" ? short(cell) : String(cell);
}

// The rows of the table that pass its filter, for the table and for the list at the side. A filter
// that cannot be read, as while it is typed, leaves the rows as they were.

import { computed } from "@preact/signals";
import type { RunTable } from "../model/runs/run-table";
import { allRuns } from "./all-runs";
import { seen } from "./page-state";

let sound = ""; // the last filter that could be read

/** Why the filter cannot be read, and the one by which rows are chosen instead of it. */
const read = computed<{ filter: string; trouble: string | null }>(() => {
  const [all, filter] = [allRuns.value, seen.filter.value];
  const trouble = all && whyNot(all.table, filter);
  if (!trouble) sound = filter;
  return { filter: trouble && all && whyNot(all.table, sound) ? "" : sound, trouble };
});

export const filterTrouble = computed(() => read.value.trouble);

/** `otherwise`: a column to sort by where none was chosen. */
export function foundRows(table: RunTable, otherwise = ""): Int32Array {
  return table.rows(read.value.filter, seen.sort.value || otherwise);
}

function whyNot(table: RunTable, filter: string): string | null {
  try {
    table.rows(filter, "");
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

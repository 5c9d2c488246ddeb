// What analyses found of runs, in one place: the store's table, and where that says nothing yet, what
// the server has found since for runs that were opened. All lists, filters and cells go by it.

import type { Analysis } from "../server/answers";
import type { Cell, Columns } from "./run-filter";

/** The columns that one run's analyses fill. */
export type Findings = Readonly<Record<"verdict" | "spikes" | "lead", Cell>>;

export function findingsOf({ circuit, phases, spikes }: Analysis): Findings {
  return {
    verdict: circuit?.verdict.name ?? null,
    spikes: spikes?.spikes.length ?? null,
    lead: phases?.lead ?? null,
  };
}

/** The columns with what is known of runs by their ids, where they have nothing. */
export function withFindings(columns: Columns, known: ReadonlyMap<string, Findings>): Columns {
  const ids = columns["id"] ?? [];
  if (!ids.some((id) => known.has(String(id)))) return columns;
  const names: readonly (keyof Findings)[] = ["verdict", "spikes", "lead"];
  const filled = names.map((name): [string, readonly Cell[]] => [
    name,
    ids.map((id, row) => columns[name]?.[row] ?? known.get(String(id))?.[name] ?? null),
  ]);
  return { ...columns, ...Object.fromEntries(filled) };
}

// What analyses found of runs, in one place: the store's table, and where that says nothing yet, what
// the server has found since for runs that were opened. All lists, filters and cells go by it.

import type { Analysis } from "../server/answers";
import type { Cell, Columns } from "./run-filter";

/** The columns that one run's analyses fill. */
export type Findings = Readonly<Record<(typeof NAMES)[number], Cell>>;

const NAMES = ["sum_kind", "verdict", "spikes", "lead"] as const;

export function findingsOf({ sum, circuit, phases, spikes }: Analysis): Findings {
  return {
    sum_kind: sum?.sum_kind ?? null,
    verdict: circuit?.verdict.name ?? null,
    spikes: spikes?.spikes.length ?? null,
    lead: phases?.lead ?? null,
  };
}

/** The columns with what is known of runs by their ids, where they have nothing. */
export function withFindings(columns: Columns, known: ReadonlyMap<string, Findings>): Columns {
  const ids = columns["id"] ?? [];
  if (!ids.some((id) => known.has(String(id)))) return columns;
  const filled = NAMES.map((name): [string, readonly Cell[]] => [
    name,
    ids.map((id, row) => columns[name]?.[row] ?? known.get(String(id))?.[name] ?? null),
  ]);
  return { ...columns, ...Object.fromEntries(filled) };
}

// The table of all runs, fetched once and looked at again when asked.

import { signal } from "@preact/signals";
import { withOwnData } from "../model/own-data";
import { RunTable } from "../model/runs/run-table";
import type { RunsAnswer, StoreAnswer } from "../model/server/answers";
import { SPARKLINE } from "../model/server/api";
import { api } from "./open-runs";
import { change, trouble, seen } from "./page-state";

export interface AllRuns {
  answer: RunsAnswer;
  table: RunTable;
  sparklines: Uint8Array | null;
  rowOf: Map<string, number>;
}

export const store = signal<StoreAnswer | null>(null);
export const allRuns = signal<AllRuns | null>(null);

export async function loadStore(): Promise<void> {
  try {
    store.value = await api.store();
    const answer = withOwnData(await api.runs());
    const ids = answer.columns["id"] ?? [];
    const rowOf = new Map(ids.map((id, row) => [String(id), row]));
    const base = { answer, table: new RunTable(answer.columns, answer.same), rowOf };
    allRuns.value = { ...base, sparklines: null };
    chooseFirst(allRuns.value);
    const sparklines = await api.sparklines(answer).catch(() => null);
    allRuns.value = { ...base, sparklines };
  } catch (error) {
    trouble.value = error instanceof Error ? error.message : String(error);
  }
}

/** What to show when the URL does not say: what the command was asked for, a lone run, or the table. */
function chooseFirst({ answer }: AllRuns): void {
  if (seen.runs.value.length || seen.page.value === "runs") return;
  const shown = store.value?.shown;
  const ids = answer.columns["id"] ?? [];
  if (shown?.run) change({ runs: [shown.run], epoch: shown.epoch ?? seen.epoch.value });
  else if (ids.length === 1) change({ runs: [String(ids[0])] });
  else change({ page: "runs" });
}

/** Points of a row's sparkline between 0 and 1; NaN where there is none. */
export function sparkline({ sparklines }: AllRuns, row: number): number[] {
  const from = row * SPARKLINE;
  return Array.from(sparklines?.subarray(from, from + SPARKLINE) ?? [], (byte) =>
    byte === 255 ? NaN : byte / 254,
  );
}

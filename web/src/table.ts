// The table of all runs, fetched once and looked at again when asked.

import { signal } from "@preact/signals";
import { SPARKLINE } from "./model/api";
import type { RunsAnswer, StoreAnswer } from "./model/answers";
import { RunTable } from "./model/table";
import { api } from "./runs";
import { change, trouble, seen } from "./state";

export interface Loaded {
  answer: RunsAnswer;
  table: RunTable;
  sparklines: Uint8Array | null;
  rowOf: Map<string, number>;
}

export const store = signal<StoreAnswer | null>(null);
export const loaded = signal<Loaded | null>(null);

export async function loadStore(): Promise<void> {
  try {
    store.value = await api.store();
    const answer = await api.runs();
    const ids = answer.columns["id"] ?? [];
    const rowOf = new Map(ids.map((id, row) => [String(id), row]));
    const base = { answer, table: new RunTable(answer.columns, answer.same), rowOf };
    loaded.value = { ...base, sparklines: null };
    chooseFirst(loaded.value);
    const sparklines = await api.sparklines(answer).catch(() => null);
    loaded.value = { ...base, sparklines };
  } catch (error) {
    trouble.value = error instanceof Error ? error.message : String(error);
  }
}

/** What to show when the URL does not say: what the command was asked for, a lone run, or the table. */
function chooseFirst({ answer }: Loaded): void {
  if (seen.runs.value.length || seen.page.value === "runs") return;
  const shown = store.value?.shown;
  const ids = answer.columns["id"] ?? [];
  if (shown?.run) change({ runs: [shown.run], epoch: shown.epoch ?? seen.epoch.value });
  else if (ids.length === 1) change({ runs: [String(ids[0])] });
  else change({ page: "runs" });
}

/** Points of a row's sparkline between 0 and 1; NaN where there is none. */
export function sparkline({ sparklines }: Loaded, row: number): number[] {
  const from = row * SPARKLINE;
  return Array.from(sparklines?.subarray(from, from + SPARKLINE) ?? [], (byte) =>
    byte === 255 ? NaN : byte / 254,
  );
}

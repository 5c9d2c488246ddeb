// The table of all runs, fetched once and looked at again when asked; with what is found of runs that
// are opened.

import { batch, computed, effect, signal } from "@preact/signals";
import { withOwnData } from "../model/own-data";
import { findingsOf, withFindings, type Findings } from "../model/runs/known-findings";
import type { Cell } from "../model/runs/run-filter";
import { RunTable } from "../model/runs/run-table";
import type { Offer, RunsAnswer, StoreAnswer } from "../model/server/answers";
import { SPARKLINE } from "../model/server/api";
import { api } from "./answering";
import { awaitsShared } from "./live-runs";
import { change, showView, slots, tellTrouble, seen } from "./page-state";
import { restoreShared } from "./shared-runs";

export interface AllRuns {
  answer: RunsAnswer;
  table: RunTable;
  sparklines: Uint8Array | null;
  rowOf: Map<string, number>;
}

export const store = signal<StoreAnswer | null>(null);
/** Whether something can be had here; what is not yet known to be missing is. */
export const isOffered = (offer: Offer): boolean => store.value?.offers.includes(offer) ?? true;

/** A page without runs, to train one in. */
export const isPlayground = computed(
  () => store.value !== null && store.value.runs === 0 && !seen.runs.value.length,
);

const answered = signal<RunsAnswer | null>(null);
const sparklines = signal<Uint8Array | null>(null);
const found = signal<ReadonlyMap<string, Findings>>(new Map()); // of runs that were opened

const tabled = computed(() => {
  if (!answered.value) return null;
  const answer = { ...answered.value, columns: withFindings(answered.value.columns, found.value) };
  const ids = answer.columns["id"] ?? [];
  const rowOf = new Map(ids.map((id, row) => [String(id), row]));
  return { answer, table: new RunTable(answer.columns, answer.same), rowOf };
});
export const allRuns = computed<AllRuns | null>(
  () => tabled.value && { ...tabled.value, sparklines: sparklines.value },
);

effect(() => {
  const known = slots.value.flatMap(({ info, analysis }): [string, Findings][] =>
    analysis.value ? [[info.id, findingsOf(analysis.value)]] : [],
  );
  const before = found.peek();
  if (known.some(([id, each]) => JSON.stringify(before.get(id)) !== JSON.stringify(each)))
    found.value = new Map([...before, ...known]);
});

export async function loadStore(): Promise<void> {
  try {
    store.value = await api.store();
    if (store.value.live) await restoreShared();
    awaitsShared.value = false;
    if (!isOffered("table")) return showFirst([]);
    const answer = withOwnData(await api.runs());
    batch(() => {
      answered.value = answer;
      sparklines.value = null;
    });
    showFirst(answer.columns["id"] ?? []);
    const lines = await api.sparklines(answer).catch(() => null);
    if (answered.value === answer) sparklines.value = lines;
  } catch (error) {
    tellTrouble(error);
  }
}

/** What to show when the URL does not say: what was asked for, a lone run, or the table. */
function showFirst(ids: readonly Cell[]): void {
  if (!isOffered("table")) change({ page: "run" });
  if (seen.runs.value.length || seen.page.value === "runs" || seen.guide.value) return;
  const { run, beside, epoch, view } = store.value!.shown;
  if (view !== undefined) showView(view);
  else if (run) change({ runs: beside ? [run, beside] : [run], epoch: epoch ?? seen.epoch.value });
  else if (ids.length === 1) change({ runs: [String(ids[0])] });
  else if (isOffered("table")) change({ page: "runs" });
}

/** Points of a row's sparkline between 0 and 1; NaN where there is none. */
export function sparkline({ sparklines }: AllRuns, row: number): number[] {
  const from = row * SPARKLINE;
  return Array.from(sparklines?.subarray(from, from + SPARKLINE) ?? [], (byte) =>
    byte === 255 ? NaN : byte / 254,
  );
}

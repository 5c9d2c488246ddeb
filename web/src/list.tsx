// The short list of runs at the side: the best by accuracy, or what the table is filtered to.

import { percent } from "./format";
import { change, openRun, slots, seen } from "./state";
import { loaded, type Loaded } from "./table";

const MOST = 60;

export function RunList() {
  const all = loaded.value;
  if (!all || all.table.count < 2) return null;
  const rows = rowsOf(all);
  return (
    <section class="card grows">
      <h2>
        Runs{" "}
        <small>{`${all.table.count.toLocaleString("en")} · ${seen.sort.value ? "as in the table" : "by accuracy"}`}</small>
        <button
          class="plain end"
          aria-label="The whole table"
          onClick={() => change({ page: "runs" })}
        >
          all
        </button>
      </h2>
      <ul class="run-list">
        {rows.map((row) => (
          <RunItem key={row} all={all} row={row} />
        ))}
      </ul>
    </section>
  );
}

export function rowsOf({ table }: Loaded): number[] {
  try {
    return [...table.rows(seen.filter.value, seen.sort.value || "-accuracy").subarray(0, MOST)];
  } catch {
    return []; // the table's page says what is wrong with the filter
  }
}

function RunItem({ all, row }: { all: Loaded; row: number }) {
  const cell = (name: string): unknown =>
    all.table.cell(row, name) ?? all.answer.same[name] ?? null;
  const { solved_accuracy } = all.answer.thresholds;
  const id = String(cell("id"));
  const found = slots.value.find((slot) => slot.info.id === id)?.analysis.value; // the table may not know it
  const [spikes, accuracy] = [cell("spikes") ?? found?.spikes?.spikes.length, cell("accuracy")];
  const verdict = String(
    cell("verdict") ??
      found?.circuit?.verdict.name ??
      (typeof accuracy === "number" && accuracy <= solved_accuracy ? "unsolved" : ""),
  );
  const open = seen.runs.value.includes(id);
  return (
    <li class={open ? "open" : ""}>
      <button
        aria-current={open ? "true" : undefined}
        onClick={(event) => (event.shiftKey ? beside(id) : openRun(id))}
        title={`Open seed ${String(cell("seed"))}; with shift: beside the first`}
      >
        <span>{String(cell("seed"))}</span>
        <i data-verdict={verdict || "unknown"} />
        <span class="name">{verdict || "not analysed"}</span>
        <span>{typeof accuracy === "number" ? percent(accuracy) : "–"}</span>
        <em>{typeof spikes === "number" && spikes > 0 ? spikes : ""}</em>
      </button>
    </li>
  );
}

/** Puts a run beside the one that is open. */
export function beside(id: string): void {
  const [first] = seen.runs.value;
  change({ runs: first && first !== id ? [first, id] : [id], spike: null, page: "run" });
}

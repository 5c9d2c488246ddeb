// The short list of runs at the side: the best by accuracy, or what the table is filtered to.

import { useMemo } from "preact/hooks";
import { sumTerm } from "../model/glossary";
import { percent } from "../model/number-text";
import { OWN_DATA } from "../model/own-data";
import { RunOptions } from "../model/runs/run-options";
import { isSolved } from "../model/server/answers";
import { allRuns, type AllRuns } from "../state/all-runs";
import { filterTrouble, foundRows } from "../state/found-rows";
import { change, openBeside, openRun, seen } from "../state/page-state";
import { explained } from "../terms/term";

const MOST = 60;

export function RunList() {
  const all = allRuns.value;
  const columns = all?.answer.columns;
  const options = useMemo(() => new RunOptions(columns ?? {}), [columns]);
  if (!all || all.table.count < 2) return null;
  const rows = [...foundRows(all.table, "-accuracy").subarray(0, MOST)];
  const told = toldOf(rows.length, all.table.count);
  return (
    <section class="card grows">
      <h2>
        Runs <small title={told}>{told}</small>
        <button
          class="plain end"
          aria-label="The whole table"
          onClick={() => change({ page: "runs" })}
        >
          all
        </button>
      </h2>
      {!rows.length && <p class="hint">No run passes the table's filter.</p>}
      <ul class="run-list">
        {rows.map((row) => (
          <RunItem key={row} all={all} row={row} options={options} />
        ))}
      </ul>
    </section>
  );
}

/** How many are listed, of which and how. */
function toldOf(listed: number, count: number): string {
  const [filter, sort] = [seen.filter.value.trim(), seen.sort.value];
  const all = count.toLocaleString("en");
  const many = listed < count ? `${listed} of ${all}` : all;
  const order = sort ? "as in the table" : "by accuracy at the end";
  return `${many} · ${(!filterTrouble.value && filter) || order}`;
}

function RunItem({ all, row, options }: { all: AllRuns; row: number; options: RunOptions }) {
  const { id, seed, own, sum, verdict, accuracy, spikes } = knownOf(all, row);
  const open = seen.runs.value.includes(id);
  const solved = verdict !== "" && isSolved(verdict); // of others the sum says little
  const named = solved && sum ? `${sumTerm(sum)} ${verdict}` : verdict;
  const judged = verdict || (own ? OWN_DATA : "not analysed");
  const told = [`Seed ${seed}`, ...(sum ? [`sum: ${sum}`] : []), judged, ...options.all(row)];
  return (
    <li class={open ? "open" : ""}>
      <button
        aria-current={open ? "true" : undefined}
        onClick={(event) => (event.shiftKey ? openBeside(id) : openRun(id))}
        {...explained(
          named || (own ? "own-data" : "run"),
          `${[...new Set(told)].join(", ")}. Click to open it; with shift: beside the first.`,
        )}
      >
        <span>{seed}</span>
        <i data-verdict={verdict || "unknown"} />
        <span class="name">{solved && sum ? `${sum} · ${verdict}` : verdict || "–"}</span>
        <span class="options">{options.brief(row).join(" · ")}</span>
        <span class="accuracy">{typeof accuracy === "number" ? percent(accuracy) : "–"}</span>
        <em>{typeof spikes === "number" && spikes > 0 ? spikes : ""}</em>
      </button>
    </li>
  );
}

/** What the table says of a run. */
function knownOf({ table }: AllRuns, row: number) {
  const cell = (name: string): unknown => table.cell(row, name);
  return {
    id: String(cell("id")),
    seed: String(cell("seed")),
    own: cell("data") !== null, // data, for which there is no verdict
    sum: String(cell("sum_kind") ?? ""),
    verdict: String(cell("verdict") ?? ""),
    accuracy: cell("accuracy"),
    spikes: cell("spikes"),
  };
}

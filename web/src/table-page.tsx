// All runs: a table of which only the visible rows exist, with filter, sort and small curves.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { percent, short } from "./format";
import type { Cell } from "./model/filter";
import { beside } from "./list";
import { palette } from "./look";
import { change, openRun, seen } from "./state";
import { loaded, loadStore, sparkline, store, type Loaded } from "./table";

const ROW = 30; // pixels, as in table.css
const OVERSCAN = 8;
const FIRST = [
  "seed",
  "verdict",
  "accuracy",
  "learning_epoch",
  "lowest_loss",
  "spikes",
  "lead",
  "diverged",
];
const NEVER = new Set([
  "id",
  "origin",
  "drops",
  "spike_epochs",
  "spike_causes",
  "note",
  "tags",
  "last_epoch",
]);

export function RunsPage() {
  const all = loaded.value;
  if (!all) return <p class="notice">Loading the table of runs.</p>;
  return (
    <main class="runs-page" aria-label="All runs">
      <Found all={all} />
    </main>
  );
}

function Found({ all }: { all: Loaded }) {
  const [filter, sort] = [seen.filter.value, seen.sort.value];
  const columns = useMemo(() => columnsOf(all), [all]);
  const [rows, error] = useMemo(() => find(all, filter, sort), [all, filter, sort]);
  return (
    <>
      <div class="bar">
        <input
          type="search"
          aria-label="Filter the runs"
          aria-invalid={error !== null}
          placeholder="accuracy>0.9 verdict:ideal lr=0.003 tag:nice spikes>=2"
          value={filter}
          onInput={(event) => change({ filter: event.currentTarget.value })}
        />
        <span aria-live="polite">
          {error ??
            `${rows.length.toLocaleString("en")} of ${all.table.count.toLocaleString("en")} runs`}
        </span>
        <span class="gap" />
        {(store.value?.damage.length ?? 0) > 0 && (
          <span class="trouble" title={store.value?.damage.join("\n")}>
            {store.value?.damage.length} damaged files left out
          </span>
        )}
        <button onClick={() => void loadStore()}>Look again</button>
      </div>
      {all.table.count === 0 ? (
        <p class="notice">This folder holds no runs yet.</p>
      ) : (
        <Table all={all} rows={rows} columns={columns} />
      )}
    </>
  );
}

function find(all: Loaded, filter: string, sort: string): [Int32Array, string | null] {
  try {
    return [all.table.rows(filter, sort), null];
  } catch (error) {
    return [new Int32Array(0), error instanceof Error ? error.message : String(error)];
  }
}

/** The columns that are worth showing: those of the summary, then options in which runs differ. */
function columnsOf({ answer }: Loaded): string[] {
  const names = Object.keys(answer.columns);
  const first = FIRST.filter((name) => names.includes(name));
  const rest = names.filter(
    (name) => !FIRST.includes(name) && !NEVER.has(name) && differs(answer.columns[name] ?? []),
  );
  const told = ["tags", "note"].filter((name) =>
    (answer.columns[name] ?? []).some((cell) => cell !== null && String(cell) !== ""),
  );
  return [...first, ...rest.slice(0, 8), ...told];
}

function differs(cells: readonly Cell[]): boolean {
  return cells.some((cell) => String(cell) !== String(cells[0]));
}

function Table({ all, rows, columns }: { all: Loaded; rows: Int32Array; columns: string[] }) {
  const body = useRef<HTMLDivElement>(null);
  const [[from, to], setRange] = useState<[number, number]>([0, 40]);
  const look = (): void => {
    const element = body.current;
    if (!element) return;
    const first = Math.max(0, Math.floor(element.scrollTop / ROW) - OVERSCAN);
    setRange([first, first + Math.ceil(element.clientHeight / ROW) + 2 * OVERSCAN]);
  };
  useEffect(() => body.current?.scrollTo(0, 0), [seen.filter.value, seen.sort.value]);
  useEffect(look, [rows]);
  useEffect(() => {
    const observer = new ResizeObserver(look);
    if (body.current) observer.observe(body.current);
    return () => observer.disconnect();
  }, []);
  const shown = rows.subarray(from, to);
  const rest = Math.max(0, rows.length - from - shown.length);
  return (
    <div
      class="table"
      ref={body}
      onScroll={look}
      tabIndex={0}
      role="region"
      aria-label="Table of runs"
    >
      <table aria-label="Runs" aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            <th scope="col">run</th>
            {columns.map((name) => (
              <Heading key={name} name={name} />
            ))}
            <th scope="col">accuracy over time</th>
            <th scope="col">
              <span class="unseen">compare</span>
            </th>
          </tr>
        </thead>
        <tbody>
          <Spacer height={from * ROW} />
          {[...shown].map((row, i) => (
            <Row key={row} all={all} row={row} place={from + i} columns={columns} />
          ))}
          <Spacer height={rest * ROW} />
        </tbody>
      </table>
    </div>
  );
}

function Spacer({ height }: { height: number }) {
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => row.current?.style.setProperty("height", `${height}px`), [height]);
  return <tr ref={row} aria-hidden="true" class="spacer" />;
}

function Heading({ name }: { name: string }) {
  const sort = seen.sort.value;
  const sorted = sort === name ? "ascending" : sort === `-${name}` ? "descending" : undefined;
  const next = sorted === "descending" ? name : sorted === "ascending" ? "" : `-${name}`;
  return (
    <th scope="col" aria-sort={sorted}>
      <button class="plain" onClick={() => change({ sort: next })}>
        {name.replaceAll("_", " ")}{" "}
        {sorted === "ascending" ? "↑" : sorted === "descending" ? "↓" : ""}
      </button>
    </th>
  );
}

function Row({
  all,
  row,
  place,
  columns,
}: {
  all: Loaded;
  row: number;
  place: number;
  columns: string[];
}) {
  const id = String(all.table.cell(row, "id"));
  const open = seen.runs.value.includes(id);
  return (
    <tr class={open ? "open" : ""} aria-rowindex={place + 2} onClick={() => openRun(id)}>
      <th scope="row">
        <button class="plain" onClick={() => openRun(id)}>
          {id.slice(0, 8)}
        </button>
      </th>
      {columns.map((name) => (
        <td>{shown(name, all.table.cell(row, name))}</td>
      ))}
      <td>
        <Sparkline values={sparkline(all, row)} />
      </td>
      <td>
        <button
          class="plain"
          disabled={!seen.runs.value.length || open}
          title="Beside the open run"
          aria-label={`Show run ${id.slice(0, 8)} beside the open one`}
          onClick={(event) => {
            event.stopPropagation();
            beside(id);
          }}
        >
          ◫
        </button>
      </td>
    </tr>
  );
}

function shown(name: string, cell: Cell): string {
  if (cell === null) return "–";
  if (name === "accuracy" && typeof cell === "number") return percent(cell);
  if (Number.isInteger(cell)) return String(cell); // a seed or a size is not rounded
  if (typeof cell === "number") return short(cell);
  return Array.isArray(cell) ? cell.join(", ") : String(cell);
}

function Sparkline({ values }: { values: number[] }) {
  const points = values.map((value, i) =>
    Number.isNaN(value) ? "" : `${(i * 100) / 31},${(21 - 20 * value).toFixed(1)}`,
  );
  return (
    <svg width="100" height="22" viewBox="0 0 100 22" aria-hidden="true">
      <polyline
        points={points.filter(Boolean).join(" ")}
        fill="none"
        stroke={palette.value.colours.curves.test}
        stroke-width="1.3"
      />
    </svg>
  );
}

// All runs: a table of which only the visible rows exist, with filter, sort and small curves.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { columnTerm, sumTerm } from "../model/glossary";
import { existingValues, type Cell } from "../model/runs/run-filter";
import { cellText, headingOf, numericColumns } from "../model/runs/run-columns";
import { columnDiffers } from "../model/runs/run-options";
import { allRuns, loadStore, sparkline, store, type AllRuns } from "../state/all-runs";
import { palette } from "../state/colour-scheme";
import { filterTrouble, foundRows } from "../state/found-rows";
import { change, openBeside, openRun, seen } from "../state/page-state";
import { explained, Term } from "../terms/term";

const ROW = 30; // pixels, as in table.css
const OVERSCAN = 8;
const CURVE = "accuracy over time"; // a column of pictures
const MOST = 12; // further columns; what is not shown can still be filtered by
const FIRST = [
  "seed",
  "sum_kind",
  "verdict",
  "accuracy",
  CURVE,
  "spikes",
  "learning_epoch",
  "lowest_loss",
  "lead",
  "diverged",
];
const EVER = new Set(["seed", "sum_kind", "verdict", "accuracy", CURVE, "spikes"]); // even if empty
const NEVER = new Set([
  "id",
  "data", // a digest; the task says that there are data
  "origin",
  "drops",
  "drop_epochs",
  "drop_votes",
  "sum_weights", // the formula says them
  "sum_apart",
  "sum_leads",
  "alias_weights",
  "spike_epochs",
  "spike_causes",
  "note",
  "tags",
  "last_epoch",
]);

/** What explains the words in a column. */
const CELL_TERMS: Readonly<Record<string, (text: string) => string>> = {
  sum_kind: sumTerm,
  verdict: (text) => text,
};

export function RunsPage() {
  const all = allRuns.value;
  if (!all) return <p class="notice">Loading the table of runs.</p>;
  return (
    <main class="runs-page" aria-label="All runs">
      <Found all={all} />
    </main>
  );
}

function Found({ all }: { all: AllRuns }) {
  const [filter, sort] = [seen.filter.value, seen.sort.value];
  const columns = useMemo(() => columnsOf(all), [all]);
  const error = filterTrouble.value;
  const rows = useMemo(() => foundRows(all.table), [all, filter, sort, error]);
  return (
    <>
      <div class="bar">
        <input
          type="search"
          aria-label="Filter the runs"
          aria-invalid={error !== null}
          placeholder={exampleFilter(all)}
          value={filter}
          onInput={(event) => change({ filter: event.currentTarget.value })}
        />
        <span class={error ? "found trouble" : "found"} aria-live="polite" title={error ?? ""}>
          {error
            ? `${error} The rows are as before.`
            : `${rows.length.toLocaleString("en")} of ${all.table.count.toLocaleString("en")} runs`}
        </span>
        {(store.value?.damage.length ?? 0) > 0 && (
          <span class="trouble" title={store.value?.damage.join("\n")}>
            {store.value?.damage.length} damaged files left out
          </span>
        )}
        <button onClick={() => void loadStore()} title="Read the folder again">
          Reload
        </button>
      </div>
      {all.table.count === 0 ? (
        <p class="notice">This folder holds no runs yet.</p>
      ) : (
        <Table all={all} rows={rows} columns={columns}>
          {!rows.length && !error && (
            <p class="notice">No run passes this filter. {existingValues(filter, all.table)}</p>
          )}
        </Table>
      )}
      {unanalysed(all) > 0 && (
        <p class="hint">
          {unanalysed(all) === all.table.count ? "No run is" : "Some runs are not"} analysed yet:{" "}
          <code>dynascope report FOLDER</code> fills the columns sum, verdict and spikes.
        </p>
      )}
    </>
  );
}

/** What a filter may look like: with values that are there. */
function exampleFilter({ answer }: AllRuns): string {
  const first = (name: string): Cell =>
    (answer.columns[name] ?? []).find((cell) => cell !== null && cell !== "unexplained") ?? null;
  const [sum, verdict] = [first("sum_kind"), first("verdict")];
  const tag = (answer.columns["tags"] ?? []).flatMap((cell) =>
    Array.isArray(cell) ? cell : [],
  )[0];
  const parts = [
    "accuracy > 0.9",
    sum ? `sum:${sum}` : verdict && `verdict:${verdict}`,
    tag && `tag:${tag}`,
    "seed < 5",
  ];
  return parts.filter(Boolean).join("  ");
}

/** The columns that are worth showing: those of the summary, then options in which runs differ. */
function columnsOf(all: AllRuns): string[] {
  const { columns } = all.answer;
  const first = FIRST.filter((name) => EVER.has(name) || told(all, name));
  const rest = Object.keys(columns).filter(
    (name) => !FIRST.includes(name) && !NEVER.has(name) && columnDiffers(columns[name] ?? []),
  );
  const chosen = rest.filter((name) => name !== "seconds"); // they differ always, and say little
  const words = ["tags", "note"].filter((name) => told(all, name));
  return [...first, ...(chosen.length ? chosen : rest).slice(0, MOST), ...words];
}

/** Whether any run has something in a column. */
function told({ answer }: AllRuns, name: string): boolean {
  return (answer.columns[name] ?? []).some((cell) => cell !== null && String(cell) !== "");
}

const unanalysed = ({ answer }: AllRuns): number =>
  (answer.columns["spikes"] ?? []).filter((cell) => cell === null).length;

interface TableProps {
  all: AllRuns;
  rows: Int32Array;
  columns: string[];
  children: ComponentChildren;
}

function Table({ all, rows, columns, children }: TableProps) {
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
  const numeric = useMemo(() => numericColumns(all.answer.columns), [all]);
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
            <th scope="col">
              <Term of="run">run</Term>
            </th>
            {columns.map((name) =>
              name === CURVE ? (
                <th key={name} scope="col">
                  <Term of="accuracy.curve">{name}</Term>
                </th>
              ) : (
                <Heading key={name} name={name} numeric={numeric.has(name)} />
              ),
            )}
          </tr>
        </thead>
        <tbody>
          <Spacer height={from * ROW} />
          {[...shown].map((row, i) => (
            <Row
              key={row}
              all={all}
              row={row}
              place={from + i}
              columns={columns}
              numeric={numeric}
            />
          ))}
          <Spacer height={rest * ROW} />
        </tbody>
      </table>
      {children}
    </div>
  );
}

function Spacer({ height }: { height: number }) {
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => row.current?.style.setProperty("height", `${height}px`), [height]);
  return <tr ref={row} aria-hidden="true" class="spacer" />;
}

function Heading({ name, numeric }: { name: string; numeric: boolean }) {
  const sort = seen.sort.value;
  const sorted = sort === name ? "ascending" : sort === `-${name}` ? "descending" : undefined;
  const next = sorted === "descending" ? name : sorted === "ascending" ? "" : `-${name}`;
  return (
    <th scope="col" aria-sort={sorted} class={numeric ? "number" : undefined}>
      <button
        class="plain"
        onClick={() => change({ sort: next })}
        {...explained(columnTerm(name), headingOf(name) !== name && `In filters: ${name}`)}
      >
        <span>{headingOf(name)}</span>
        {sorted && <span aria-hidden="true">{sorted === "ascending" ? "↑" : "↓"}</span>}
      </button>
    </th>
  );
}

function Row({
  all,
  row,
  place,
  columns,
  numeric,
}: {
  all: AllRuns;
  row: number;
  place: number;
  columns: string[];
  numeric: ReadonlySet<string>;
}) {
  const id = String(all.table.cell(row, "id"));
  const open = seen.runs.value.includes(id);
  return (
    <tr class={open ? "open" : ""} aria-rowindex={place + 2} onClick={() => openRun(id)}>
      <th scope="row">
        <button
          class="plain"
          onClick={() => openRun(id)}
          {...explained(String(all.table.cell(row, "verdict") ?? "run"))}
        >
          {id.slice(0, 8)}
        </button>
        <button
          class="plain"
          disabled={!seen.runs.value.length || open}
          title="Beside the open run"
          aria-label={`Show run ${id.slice(0, 8)} beside the open one`}
          onClick={(event) => {
            event.stopPropagation();
            openBeside(id);
          }}
        >
          ◫
        </button>
      </th>
      {columns.map((name) =>
        name === CURVE ? (
          <td key={name}>
            <Sparkline values={sparkline(all, row)} />
          </td>
        ) : (
          <Value
            key={name}
            name={name}
            cell={cellOf(all, row, name)}
            numeric={numeric.has(name)}
            share={all.answer.shares.includes(name)}
          />
        ),
      )}
    </tr>
  );
}

/** What a run is shown with: the best sum is no formula of a run that keeps none. */
function cellOf({ table }: AllRuns, row: number, name: string): Cell {
  const none = name === "sum_formula" && table.cell(row, "sum_kind") === "unexplained";
  return none ? null : table.cell(row, name);
}

interface ValueOf {
  name: string;
  cell: Cell;
  numeric: boolean;
  share: boolean;
}

/** A cell; what may be cut off is in its title too. */
function Value({ name, cell, numeric, share }: ValueOf) {
  const text = cellText(cell, share);
  return (
    <td
      class={numeric ? "number" : undefined}
      title={text.length > 20 ? text : undefined}
      {...explained(CELL_TERMS[name]?.(text) ?? "")}
    >
      {text}
    </td>
  );
}

function Sparkline({ values }: { values: number[] }) {
  const points = values.map((value, i) =>
    Number.isNaN(value) ? "" : `${(i * 100) / (values.length - 1)},${(21 - 20 * value).toFixed(1)}`,
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

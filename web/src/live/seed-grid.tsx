// The seeds as a grid of small curves, of which only the visible rows exist. By keyboard: arrows,
// Home, End, Page Up and Page Down go from one to the next, Enter opens it.

import type { Signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { SeedResult } from "../model/live/seed-results";
import { lookAtSeeds, openSeed, seedLook, type SeedBrowser } from "../state/seed-browser";
import { SeedCell } from "./seed-cell";

const ROW = 126; // pixels, as in seeds.css, with the gap
const NARROWEST = 158; // of a cell
const GAP = 8;
const OVERSCAN = 2; // rows

type Shown = readonly Signal<SeedResult>[];

export function SeedGrid({ browser, shown }: { browser: SeedBrowser; shown: Shown }) {
  const body = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState({ columns: 1, first: 0, end: 8, width: 0 });
  const { columns, first, end } = range;
  const rows = Math.ceil(shown.length / columns);
  const look = (): void => {
    const element = body.current;
    if (!element) return;
    const { scrollTop, clientHeight, clientWidth } = element;
    const now = {
      columns: Math.max(1, Math.floor((clientWidth + GAP) / (NARROWEST + GAP))),
      first: Math.max(0, Math.floor(scrollTop / ROW) - OVERSCAN),
      end: Math.ceil((scrollTop + clientHeight) / ROW) + OVERSCAN,
      width: clientWidth, // cells of another width are drawn again
    };
    setRange((before) => (JSON.stringify(before) === JSON.stringify(now) ? before : now));
  };
  const { order, choice } = seedLook.value;
  useLayoutEffect(() => body.current?.scrollTo(0, browser.scrolled), [browser, order, choice]);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(look);
    if (body.current) observer.observe(body.current);
    return () => observer.disconnect();
  }, []);
  const { reachable, onKeyDown } = useSeedKeys(shown, columns, body, look);
  const inSight = Array.from(
    { length: Math.max(0, Math.min(end, rows) - first) },
    (_, i) => first + i,
  );
  return (
    <div
      class="seed-grid"
      ref={body}
      role="grid"
      aria-label="Seeds"
      aria-rowcount={rows}
      aria-colcount={columns}
      onKeyDown={onKeyDown}
      onFocusIn={({ target }) => {
        const seed = target instanceof HTMLElement ? target.dataset["seed"] : undefined;
        if (seed !== undefined) lookAtSeeds({ at: Number(seed) });
      }}
      onScroll={(event) => {
        browser.scrolled = event.currentTarget.scrollTop;
        look();
      }}
    >
      <Space rows={first} />
      {inSight.map((row) => (
        <div class="seed-row" role="row" key={row} aria-rowindex={row + 1} ref={inColumns(columns)}>
          {shown.slice(row * columns, (row + 1) * columns).map((result, column) => (
            <SeedCell
              key={result.peek().seed}
              result={result}
              epochs={browser.config.training.epochs}
              column={column}
              reachable={row * columns + column === reachable(first, end)}
              open={() => void openSeed(result.peek().seed)}
            />
          ))}
        </div>
      ))}
      <Space rows={rows - first - inSight.length} />
    </div>
  );
}

/** Styles are set by script: the page's own rules forbid those in attributes. */
const inColumns =
  (columns: number) =>
  (row: HTMLDivElement | null): void =>
    row?.style.setProperty("--columns", String(columns));

function Space({ rows }: { rows: number }) {
  const space = useRef<HTMLDivElement>(null);
  const height = Math.max(0, rows) * ROW;
  useLayoutEffect(() => space.current?.style.setProperty("height", `${height}px`), [height]);
  return <div ref={space} role="presentation" />;
}

/** Which cell the keyboard is at, and how it goes to others; `look` makes those that are in sight. */
function useSeedKeys(
  shown: Shown,
  columns: number,
  body: { current: HTMLDivElement | null },
  look: () => void,
) {
  const { at } = seedLook.value;
  const moved = useRef(false); // by a key: the focus has to follow
  const placeOf = (seed: number): number =>
    Math.max(
      0,
      shown.findIndex((result) => result.peek().seed === seed),
    );
  useLayoutEffect(() => {
    if (!moved.current) return;
    moved.current = false;
    const cell = body.current?.querySelector<HTMLElement>(`[data-seed="${at}"]`);
    cell?.focus({ preventScroll: true });
  });
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const from = seedLook.peek().at; // the focus may still be on its way there
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      return void openSeed(from);
    }
    const page = columns * Math.max(1, Math.floor((body.current?.clientHeight ?? 0) / ROW));
    const to = goal(event.key, placeOf(from), shown.length - 1, columns, page);
    if (to === null) return;
    event.preventDefault();
    moved.current = true;
    bringIntoView(body.current, Math.floor(to / columns));
    look();
    lookAtSeeds({ at: shown[to]!.peek().seed });
  };
  const index = placeOf(at);
  /** Where Tab arrives: at the cell of before, or the first that is in sight. */
  const reachable = (first: number, end: number): number =>
    index >= first * columns && index < end * columns ? index : first * columns;
  return { reachable, onKeyDown };
}

/** Where a key leads from a cell; null: nowhere. */
function goal(
  key: string,
  from: number,
  last: number,
  columns: number,
  page: number,
): number | null {
  const steps: Record<string, number> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -columns,
    ArrowDown: columns,
    PageUp: -page,
    PageDown: page,
    Home: -from,
    End: last - from,
  };
  const step = steps[key];
  return step === undefined ? null : Math.max(0, Math.min(last, from + step));
}

function bringIntoView(body: HTMLDivElement | null, row: number): void {
  if (!body) return;
  const [top, bottom] = [row * ROW, (row + 1) * ROW];
  if (top < body.scrollTop) body.scrollTop = top;
  else if (bottom > body.scrollTop + body.clientHeight) body.scrollTop = bottom - body.clientHeight;
}

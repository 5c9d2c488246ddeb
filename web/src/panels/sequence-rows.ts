// Which sequences have a row of their own, and where: in columns side by side where there is room.

import type { Box } from "../drawing/axes";
import type { Sequences } from "../model/types";

const LOW = 8.4; // pixels: in lower rows the tokens cannot be read
const HIGH = 16; // in higher ones they are no better to read
const FEWEST = 8; // rows, in however little room
const CELL = 15; // pixels across, at least, where rows stand side by side
export const COLUMN_GAP = 14; // between those

export interface RowGrid {
  box: Box;
  columns: number; // of rows
  down: number; // rows in a column
  count: number; // rows in all
  width: number; // of a cell
  height: number;
}

/** Room for as many of the rows as can be read: in one column, or if `wide` in as many as fit. */
export function rowGrid(box: Box, rows: number, length: number, wide: boolean): RowGrid {
  const most = wide
    ? Math.max(1, Math.floor((box.width + COLUMN_GAP) / (length * CELL + COLUMN_GAP)))
    : 1;
  let high = wide ? HIGH : LOW;
  while (high > LOW && rows > most * Math.floor(box.height / high)) high = Math.max(LOW, high - 1);
  const fit = Math.max(FEWEST, Math.floor(box.height / high));
  const count = Math.min(rows, most * fit);
  const columns = Math.max(1, Math.ceil(count / fit));
  const down = Math.max(1, Math.ceil(count / columns));
  return {
    box,
    columns,
    down,
    count,
    width: (box.width - COLUMN_GAP * (columns - 1)) / columns / length,
    height: box.height / down,
  };
}

/** Where a column of rows begins. */
export const columnLeft = ({ box, columns }: RowGrid, column: number): number =>
  box.x + (column * (box.width + COLUMN_GAP)) / columns;

/** The row and the cell in it under these pixels; a row of -1 is below all of them. */
export function cellAt(
  grid: RowGrid,
  length: number,
  x: number,
  y: number,
): [number, number] | null {
  const { box, columns, down, count } = grid;
  const column = Math.floor(((x - box.x) * columns) / (box.width + COLUMN_GAP));
  const cell = Math.floor((x - columnLeft(grid, column)) / grid.width);
  if (column < 0 || column >= columns || cell < 0 || cell >= length || y < box.y) return null;
  const row = Math.floor((y - box.y) / grid.height);
  if (row >= down) return [-1, cell];
  const place = column * down + row;
  return place < count ? [place, cell] : null;
}

/** Sequences spread evenly over all of them, those of one multiset and prefix side by side; one that
 * is marked stands in for its neighbour, so that it is always among them. */
export class SequenceRows {
  readonly shown: Int32Array;
  private readonly order: Int32Array;
  private readonly rank: Int32Array; // the inverse
  private changed = -1; // the place where one stands in

  constructor({ count, group, prefix }: Sequences, places: number) {
    this.order = Int32Array.from({ length: count }, (_, i) => i).sort(
      (a, b) => group[a]! - group[b]! || prefix[a]! - prefix[b]! || a - b,
    );
    this.rank = new Int32Array(count);
    this.order.forEach((sequence, rank) => (this.rank[sequence] = rank));
    this.shown = Int32Array.from({ length: places }, (_, i) => this.usual(i, places));
  }

  /** Where the marked sequence is; -1 without one. */
  show(sequence: number): number {
    const { shown, changed } = this;
    if (changed >= 0) shown[changed] = this.usual(changed, shown.length);
    this.changed = -1;
    const rank = this.rank[sequence];
    if (rank === undefined) return -1;
    const place = Math.floor(((rank + 0.5) * shown.length) / this.order.length);
    if (shown[place] !== sequence) this.changed = place;
    shown[place] = sequence;
    return place;
  }

  private usual(place: number, places: number): number {
    return this.order[Math.floor(((place + 0.5) * this.order.length) / places)]!;
  }
}

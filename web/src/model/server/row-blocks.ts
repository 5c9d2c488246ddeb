// Rows of a large table, fetched in blocks when they are needed and forgotten when others are.
//
// A small table is one block. Blocks not used for longest are dropped once all together exceed the
// limit; the row that was asked for last is always kept.

import type { Numbers } from "../types";

export type FetchRows = (first: number, end: number, signal: AbortSignal) => Promise<Numbers>;

export interface BlockOptions {
  rows: number;
  rowBytes: number;
  fetch: FetchRows;
  blockBytes?: number;
  wholeBytes?: number; // up to here all comes at once
  limitBytes?: number;
}

export class RowBlocks {
  readonly blockRows: number;
  readonly count: number;
  private readonly most: number; // blocks held
  private readonly held = new Map<number, Numbers>(); // the one used last, last
  private readonly coming = new Map<number, { request: Promise<void>; control: AbortController }>();

  constructor(private readonly options: BlockOptions) {
    const { rows, rowBytes, blockBytes = 2 ** 18, wholeBytes = 2 ** 22 } = options;
    const whole = rows * rowBytes <= wholeBytes;
    this.blockRows = whole ? Math.max(1, rows) : Math.max(1, Math.floor(blockBytes / rowBytes));
    this.count = Math.ceil(rows / this.blockRows);
    const bytes = this.blockRows * rowBytes;
    this.most = Math.max(4, Math.floor((options.limitBytes ?? 2 ** 26) / Math.max(1, bytes)));
  }

  get bytes(): number {
    let total = 0;
    for (const block of this.held.values()) total += block.byteLength;
    return total;
  }

  /** Whether there is such a row, here or not. */
  holds(row: number): boolean {
    return row >= 0 && row < this.options.rows;
  }

  has(row: number): boolean {
    return this.held.has(this.blockOf(row));
  }

  /** One row, a view of its block; null if it is not here. */
  row(row: number): Numbers | null {
    const index = this.blockOf(row);
    const block = this.held.get(index);
    if (!block) return null;
    this.held.delete(index);
    this.held.set(index, block);
    const size = block.length / this.rowsIn(index);
    const at = (row - index * this.blockRows) * size;
    return block.subarray(at, at + size);
  }

  /** Comes true when the row is here; requests for the same block share one. */
  load(row: number): Promise<void> {
    const index = this.blockOf(row);
    if (this.held.has(index)) return Promise.resolve();
    const known = this.coming.get(index);
    if (known) return known.request;
    const control = new AbortController();
    const request = this.fetch(index, control.signal).finally(() => {
      if (this.coming.get(index)?.control === control) this.coming.delete(index);
    });
    this.coming.set(index, { request, control });
    return request;
  }

  /** Fetches the block of a row and those that come next in the direction of travel (0: both).
   * What fails here is asked for again, and fails aloud, when it is needed. */
  prefetch(row: number, direction: number, ahead = 2): void {
    const index = this.blockOf(row);
    const steps = Array.from({ length: ahead }, (_, i) => i + 1);
    const wanted =
      direction === 0 ? [0, 1, -1] : [0, ...steps.map((i) => i * Math.sign(direction))];
    for (const step of wanted.slice(0, this.most)) {
      const next = index + step;
      if (next >= 0 && next < this.count) this.load(next * this.blockRows).catch(() => undefined);
    }
  }

  /** Calls off what is under way for other blocks than that of a row. */
  onlyLoad(row: number): void {
    for (const [index, { control }] of [...this.coming]) {
      if (index === this.blockOf(row)) continue;
      this.coming.delete(index);
      control.abort();
    }
  }

  /** Calls off what is under way and forgets everything. */
  close(): void {
    for (const { control } of this.coming.values()) control.abort();
    this.held.clear();
  }

  private blockOf(row: number): number {
    return Math.floor(row / this.blockRows);
  }

  private rowsIn(index: number): number {
    return Math.min(this.blockRows, this.options.rows - index * this.blockRows);
  }

  private async fetch(index: number, signal: AbortSignal): Promise<void> {
    const first = index * this.blockRows;
    const block = await this.options.fetch(first, first + this.rowsIn(index), signal);
    if (signal.aborted) return;
    this.held.set(index, block);
    for (const oldest of this.held.keys()) {
      if (this.held.size <= this.most) break;
      this.held.delete(oldest);
    }
  }
}

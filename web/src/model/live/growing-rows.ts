// Rows of numbers to which more are added.

import type { Numbers, Precision } from "../types";

export class GrowingRows {
  private held: Numbers;
  count = 0;

  constructor(
    readonly width: number,
    private readonly precision: Precision,
    room = 64,
  ) {
    this.held = zeros(precision, room * width);
  }

  /** Adds whole rows. */
  append(rows: Numbers): void {
    const used = this.count * this.width;
    if (used + rows.length > this.held.length) {
      const larger = zeros(this.precision, Math.max(used + rows.length, 2 * this.held.length));
      larger.set(this.held.subarray(0, used));
      this.held = larger;
    }
    this.held.set(rows, used);
    this.count += rows.length / this.width;
  }

  /** Rows `first` to before `end`: a view, until rows are added. */
  rows(first: number, end = first + 1): Numbers {
    return this.held.subarray(first * this.width, Math.min(end, this.count) * this.width);
  }

  replace(row: number, values: Numbers): void {
    this.held.set(values, row * this.width);
  }

  /** The numbers at one place of every row. */
  column(at: number): Numbers {
    const values = zeros(this.precision, this.count);
    for (let row = 0; row < this.count; row++) values[row] = this.held[row * this.width + at]!;
    return values;
  }
}

export function zeros(precision: Precision, count: number): Numbers {
  return precision === "float64" ? new Float64Array(count) : new Float32Array(count);
}

// A run whose epochs come one after the other, as the worker that draws it has it.

import { ReadableError } from "../errors";
import type { RunDetails } from "../server/answers";
import type { Numbers, Run, WeightSource } from "../types";
import { GrowingRows } from "./growing-rows";

export class GrowingRun {
  private readonly rows: GrowingRows;
  private between: Numbers | null = null; // the weights in the middle of the epoch after the last
  onReached: (epoch: number) => void = () => undefined;

  /** With the epochs that it has already. */
  static of(details: RunDetails, weights: Numbers): GrowingRun & Run {
    return Object.assign(new GrowingRun(details, weights), details, { curves: {} });
  }

  private constructor(
    public details: RunDetails,
    weights: Numbers,
  ) {
    this.rows = new GrowingRows(details.size, details.config.precision);
    this.rows.append(weights);
  }

  /** More epochs; or others from one on, after an edit. */
  grow(first: number, weights: Numbers, details: RunDetails, between: Numbers | null = null): void {
    this.between = between;
    this.rows.count = first;
    this.rows.append(weights);
    Object.assign(this, details);
    this.details = details;
  }

  source(): WeightSource {
    return "kept";
  }

  shownEpoch(epoch: number): number {
    return Math.min(epoch, this.rows.count - 1);
  }

  ready(): boolean {
    return this.rows.count > 0;
  }

  weights(epoch: number): Numbers {
    if (!this.rows.count) throw new ReadableError("This run has no epochs yet.");
    const shown = this.shownEpoch(epoch);
    return (shown === this.rows.count - 1 && this.between) || this.rows.rows(shown);
  }

  load(): Promise<string | null> {
    return Promise.resolve(null);
  }

  prefetch(): void {
    // all of it is here
  }

  close(): void {
    // nothing is under way
  }
}

// A run: what is known of it, its curves, and its weights as they are needed.

import { ReadableError } from "../errors";
import { bytesOf } from "../kernel/heap";
import type { Numbers, Run } from "../types";
import type { RunDetails } from "./answers";
import type { Api } from "./api";
import { RowBlocks, type BlockOptions } from "./row-blocks";

/** The index of the last of rising numbers that is at most `value`; 0 if none is, -1 if empty. */
export function lastAtMost(rising: ArrayLike<number>, value: number): number {
  let [low, high] = [0, rising.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return rising.length === 0 ? -1 : Math.max(0, low - 1);
}

export type LoadedRun = StoredRun & Run;

/** A run in the server's store. */
export class StoredRun {
  private readonly blocks: RowBlocks;

  /** What is known of the run and its curves; weights come later. */
  static async open(api: Api, id: string, signal?: AbortSignal): Promise<LoadedRun> {
    const details = await api.run(id, signal);
    return StoredRun.of(details, await api.curves(details, signal), api);
  }

  static of(
    details: RunDetails,
    curves: Record<string, Numbers>,
    api: Pick<Api, "weights">,
    options: Partial<BlockOptions> = {},
  ): LoadedRun {
    return Object.assign(new StoredRun(details, curves, api, options), details);
  }

  private constructor(
    readonly details: RunDetails,
    readonly curves: Record<string, Numbers>,
    api: Pick<Api, "weights">,
    options: Partial<BlockOptions>,
  ) {
    this.blocks = new RowBlocks({
      rows: details.weightEpochs.length,
      rowBytes: details.size * bytesOf(details.config.precision),
      fetch: (first, end, signal) => api.weights(details, first, end, signal),
      ...options,
    });
  }

  /** The kept epoch that stands for an epoch: the nearest at or before. */
  keptEpoch(epoch: number): number {
    return this.details.weightEpochs[this.row(epoch)]!;
  }

  ready(epoch: number): boolean {
    return this.details.weightEpochs.length > 0 && this.blocks.has(this.row(epoch));
  }

  weights(epoch: number): Numbers {
    const found = this.blocks.row(this.row(epoch));
    if (found === null)
      throw new ReadableError(`The weights of epoch ${epoch} are not loaded yet.`);
    return found;
  }

  /** Comes true when `ready(epoch)`. */
  async load(epoch: number): Promise<void> {
    await this.blocks.load(this.row(epoch));
  }

  /** Tells where the playhead is and where it goes (-1, 0, 1): weights are there in time. */
  prefetch(epoch: number, direction = 0): void {
    if (this.details.weightEpochs.length) this.blocks.prefetch(this.row(epoch), direction);
  }

  close(): void {
    this.blocks.close();
  }

  private row(epoch: number): number {
    const row = lastAtMost(this.details.weightEpochs, epoch);
    if (row >= 0) return row;
    const why = this.details.notes[0] ?? "The weights of this run were not kept.";
    throw new ReadableError(why);
  }
}

// A run: what is known of it, its curves, and its weights as they are needed. Epochs whose weights
// were not kept are computed again by the server, where that is possible.

import { ReadableError } from "../errors";
import { bytesOf } from "../kernel/heap";
import type { Numbers, Run, WeightSource } from "../types";
import type { RunDetails } from "./answers";
import { isAbort, type Api } from "./api";
import { replayedBlocks } from "./replayed-blocks";
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
type WeightServer = Pick<Api, "weights" | "replayed">;

/** A run in the server's store. */
export class StoredRun {
  private readonly blocks: RowBlocks;
  private replayed: RowBlocks | null; // a row for each epoch; null: they cannot be had

  /** Told of the epoch that the server has computed again last, on a long way to one asked for. */
  onReached: (epoch: number) => void = () => undefined;

  /** What is known of the run and its curves; weights come later. */
  static async open(api: Api, id: string, signal?: AbortSignal): Promise<LoadedRun> {
    const details = await api.run(id, signal);
    return StoredRun.of(details, await api.curves(details, signal), api);
  }

  static of(
    details: RunDetails,
    curves: Record<string, Numbers>,
    api: WeightServer,
    options: Partial<BlockOptions> = {},
  ): LoadedRun {
    return Object.assign(new StoredRun(details, curves, api, options), details);
  }

  private constructor(
    readonly details: RunDetails,
    readonly curves: Record<string, Numbers>,
    api: WeightServer,
    options: Partial<BlockOptions>,
  ) {
    this.blocks = new RowBlocks({
      rows: details.weightEpochs.length,
      rowBytes: details.size * bytesOf(details.config.precision),
      fetch: (first, end, signal) => api.weights(details, first, end, signal),
      ...options,
    });
    this.replayed = replayedBlocks(details, api, (epoch) => this.onReached(epoch));
  }

  /** Where the weights that stand for an epoch are from. */
  source(epoch: number): WeightSource {
    if (this.details.weightEpochs[this.row(epoch)] === epoch) return "kept";
    return this.replayed?.holds(epoch) ? "recomputed" : "nearest";
  }

  /** The epoch whose weights stand for an epoch: itself, or else the nearest kept one before. */
  shownEpoch(epoch: number): number {
    return this.source(epoch) === "nearest" ? this.details.weightEpochs[this.row(epoch)]! : epoch;
  }

  ready(epoch: number): boolean {
    if (!this.details.weightEpochs.length) return false;
    const [blocks, row] = this.place(epoch);
    return blocks.has(row);
  }

  weights(epoch: number): Numbers {
    const [blocks, row] = this.place(epoch);
    const found = blocks.row(row);
    if (found === null)
      throw new ReadableError(`The weights of epoch ${epoch} are not loaded yet.`);
    return found;
  }

  /** Comes true when `ready(epoch)`. If the server cannot compute an epoch again after all, the kept
   * ones have to do from then on; what for is the answer. Other epochs that are still being computed
   * are called off. */
  async load(epoch: number): Promise<string | null> {
    const [blocks, row] = this.place(epoch);
    this.replayed?.onlyLoad(blocks === this.replayed ? row : -1);
    try {
      await blocks.load(row);
      return null;
    } catch (error) {
      if (blocks !== this.replayed || isAbort(error) || !(error instanceof ReadableError))
        throw error;
      this.replayed = null;
      await this.load(epoch);
      return error.message;
    }
  }

  /** Tells where the playhead is and where it goes (-1, 0, 1): weights are there in time. What has to
   * be computed for that is so only forwards, in which direction it costs least. */
  prefetch(epoch: number, direction = 0): void {
    if (!this.details.weightEpochs.length) return;
    const [blocks, row] = this.place(epoch);
    if (blocks === this.replayed) blocks.prefetch(row, 1, 1);
    else blocks.prefetch(row, direction);
  }

  close(): void {
    this.blocks.close();
    this.replayed?.close();
  }

  /** Which blocks an epoch is in, and where. */
  private place(epoch: number): [RowBlocks, number] {
    return this.replayed && this.source(epoch) === "recomputed"
      ? [this.replayed, epoch]
      : [this.blocks, this.row(epoch)];
  }

  private row(epoch: number): number {
    const row = lastAtMost(this.details.weightEpochs, epoch);
    if (row >= 0) return row;
    const why = this.details.notes[0] ?? "The weights of this run were not kept.";
    throw new ReadableError(why);
  }
}

// Weights of every epoch, computed again by the server in blocks of a few: what takes it longer than
// one request may take is asked for until it is there.

import { bytesOf } from "../kernel/heap";
import type { Numbers } from "../types";
import type { RunDetails } from "./answers";
import { ApiError, type Api } from "./api";
import { RowBlocks } from "./row-blocks";

const EPOCHS = 32; // of a block: half a second of playing
const BLOCK = 2 ** 20; // bytes; a single epoch may be more
const AGAIN = 200; // milliseconds until the server is asked again
const NOT_YET = 503;

/** null: all epochs were kept, or none can be computed again. `reached` is told how far the server is,
 * where that takes long. */
export function replayedBlocks(
  run: RunDetails,
  api: Pick<Api, "replayed">,
  reached: (epoch: number) => void,
): RowBlocks | null {
  const rows = (run.diverged ?? run.epochs) + 1;
  if (run.notReplayable !== null || !run.weightEpochs.length || run.weightEpochs.length >= rows)
    return null;
  const rowBytes = rowBytesOf(run);
  return new RowBlocks({
    rows,
    rowBytes,
    blockBytes: Math.min(EPOCHS * rowBytes, BLOCK),
    wholeBytes: 0,
    fetch: (first, end, signal) => replayedSpan(run, api, first, end, signal, reached),
  });
}

const rowBytesOf = (run: RunDetails): number => run.size * bytesOf(run.config.precision);

/** Epochs that are asked for at once. */
export const spanRows = (run: RunDetails): number =>
  Math.max(1, Math.min(EPOCHS, Math.floor(BLOCK / rowBytesOf(run))));

/** The weights of some epochs, asked for until they are there. */
export async function replayedSpan(
  run: RunDetails,
  api: Pick<Api, "replayed">,
  first: number,
  end: number,
  signal: AbortSignal,
  reached: (epoch: number) => void,
): Promise<Numbers> {
  for (;;) {
    const found = await api.replayed(run, first, end, signal).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== NOT_YET) throw error;
      if (error.reached !== null) reached(error.reached);
      return null;
    });
    if (found) return found;
    await new Promise((done) => setTimeout(done, AGAIN));
    signal.throwIfAborted();
  }
}

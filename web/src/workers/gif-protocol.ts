// What the page and the worker that encodes GIFs say to each other.

import type { Pixels } from "../drawing/pixels";

export type ToGifWorker =
  | { type: "palette"; samples: Pixels<ArrayBuffer>[] } // frames whose colours it is to hold
  | { type: "frame"; frame: Pixels<ArrayBuffer>; delay: number } // hundredths of a second
  | { type: "finish" };

/** The answer to each: the bytes that follow in the file. */
export type FromGifWorker = Uint8Array<ArrayBuffer>;

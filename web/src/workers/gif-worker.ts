// The worker that encodes GIFs: one palette for the whole film, and of each frame only the pixels
// that have changed.

import { GIFEncoder, quantize } from "gifenc";
import type { Pixels } from "../drawing/pixels";
import type { FromGifWorker, ToGifWorker } from "./gif-protocol";

const COLOURS = 255; // and one that lets the frame before through
const SAME = 255;
const EVERY = 3; // pixels of the samples that are looked at: every third

const gif = GIFEncoder({ auto: false });
let palette: number[][] = [];
const nearest = new Uint8Array(2 ** 15); // of a colour in 5 bits each, once it is known
const known = new Uint8Array(2 ** 15);
let before: Uint8Array | null = null; // indices of the frame before

self.onmessage = ({ data }: MessageEvent<ToGifWorker>): void => {
  if (data.type === "palette") choose(data.samples);
  else if (data.type === "frame") write(data.frame, data.delay);
  else gif.finish();
  const bytes: FromGifWorker = gif.bytes();
  gif.reset();
  self.postMessage(bytes, { transfer: [bytes.buffer] });
};

function choose(samples: readonly Pixels<ArrayBuffer>[]): void {
  const some = samples.map(({ words }) => words.filter((_, i) => i % EVERY === 0));
  const all = new Uint32Array(some.reduce((sum, each) => sum + each.length, 0));
  some.reduce((at, each) => (all.set(each, at), at + each.length), 0);
  palette = quantize(new Uint8ClampedArray(all.buffer), COLOURS, { format: "rgb565" });
  while (palette.length <= SAME) palette.push([0, 0, 0]);
  gif.writeHeader();
}

function write({ words, width, height }: Pixels<ArrayBuffer>, delay: number): void {
  const indices = new Uint8Array(width * height);
  for (let i = 0; i < indices.length; i++) indices[i] = indexOf(words[i]!);
  const shown = before ? indices.map((index, i) => (index === before![i] ? SAME : index)) : indices;
  gif.writeFrame(shown, width, height, {
    first: before === null,
    ...(before === null ? { palette } : {}),
    transparent: before !== null,
    transparentIndex: SAME,
    delay: 10 * delay,
    dispose: 1, // what is not painted over stays
  });
  before = indices;
}

/** The colour of the palette for a word 0xAABBGGRR. */
function indexOf(word: number): number {
  const key = ((word >> 3) & 0x1f) | ((word >> 6) & 0x3e0) | ((word >> 9) & 0x7c00);
  if (!known[key]) {
    nearest[key] = search(word & 0xff, (word >> 8) & 0xff, (word >> 16) & 0xff);
    known[key] = 1;
  }
  return nearest[key]!;
}

function search(r: number, g: number, b: number): number {
  let [best, least] = [0, Infinity];
  for (let i = 0; i < COLOURS; i++) {
    const [pr, pg, pb] = palette[i] as [number, number, number];
    const far = 2 * (pr - r) ** 2 + 4 * (pg - g) ** 2 + 3 * (pb - b) ** 2; // eyes see green best
    if (far < least) [best, least] = [i, far];
  }
  return best;
}

// Answers as bytes that a page can hold, in the format that `archive.ts` reads; as Python's
// `sandbox/archive.py` packs them, which is what this is compared with.

import type { SeriesCoding } from "./archive";

/** One answer. */
export interface StoredAnswer {
  bytes: Uint8Array<ArrayBuffer>;
  coding: SeriesCoding | null;
}

/** All answers by their paths. */
export async function packed(
  answers: ReadonlyMap<string, StoredAnswer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const entries: [string, object][] = [];
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let end = 0;
  for (const [path, { bytes, coding }] of answers) {
    const part = await zipped(coding ? encoded(bytes, coding) : bytes);
    entries.push([path, { begin: end, end: (end += part.length), coding }]);
    parts.push(part);
  }
  const listed = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, listed.length, true);
  return new Uint8Array(await new Blob([length, listed, ...parts]).arrayBuffer());
}

async function zipped(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** What `decoded` takes apart. */
export function encoded(
  table: Uint8Array,
  { rows, columns, width, time }: SeriesCoding,
): Uint8Array<ArrayBuffer> {
  const [series, points] = time === "rows" ? [columns, rows] : [rows, columns];
  const [nextPoint, nextSeries] = time === "rows" ? [columns, 1] : [1, columns];
  const planes = new Uint8Array(rows * columns * width);
  let at = 0;
  for (let byte = width - 1; byte >= 0; byte--)
    for (let s = 0; s < series; s++) {
      let last = 0;
      let from = s * nextSeries * width + byte;
      for (let t = 0; t < points; t++, from += nextPoint * width) {
        planes[at++] = last ^ table[from]!;
        last = table[from]!;
      }
    }
  return planes;
}

// Answers that lie in the page itself, as `sandbox/archive.py` packs them:
//
// - 4 bytes: the length of the index, an unsigned little-endian integer
// - the index, JSON: for each path where its bytes begin and end after the index, and their coding
// - those bytes, compressed by gzip
//
// Each is unpacked when it is first asked for.

import { ReadableError } from "../errors";
import type { Asked, Send } from "./send";

/** Numbers that follow each other in time differ little: they are stored as what has changed since
 * the one before, all of their highest bytes together, then all of the next ones. */
export interface SeriesCoding {
  rows: number;
  columns: number;
  width: number; // bytes of a number
  time: "rows" | "columns"; // what runs with the epochs
}

interface Entry {
  begin: number;
  end: number;
  coding: SeriesCoding | null;
}

export class Archive {
  private readonly entries: ReadonlyMap<string, Entry>;
  private readonly packed: Uint8Array<ArrayBuffer>;
  private readonly unpacked = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    try {
      const length = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
      const index = new TextDecoder().decode(bytes.subarray(4, 4 + length));
      this.entries = new Map(Object.entries(JSON.parse(index) as Record<string, Entry>));
      this.packed = bytes.subarray(4 + length);
    } catch {
      throw new ReadableError("This file is damaged; export the run again.");
    }
  }

  /** Answers as the server does. */
  readonly send: Send = async (path, { range, signal }) => {
    const [name, rows] = rowsAsked(path);
    const entry = this.entries.get(name);
    if (!entry) return notHere();
    const whole = await this.bytes(name, entry);
    signal?.throwIfAborted();
    const [first, end] = span(whole, entry, rows, range);
    return new Response(whole.slice(first, end), { status: range ? 206 : 200 });
  };

  private bytes(name: string, entry: Entry): Promise<Uint8Array<ArrayBuffer>> {
    const known = this.unpacked.get(name) ?? this.unpack(entry);
    this.unpacked.set(name, known);
    return known;
  }

  private async unpack({ begin, end, coding }: Entry): Promise<Uint8Array<ArrayBuffer>> {
    const plain = await unzipped(this.packed.subarray(begin, end));
    return coding ? decoded(plain, coding) : plain;
  }
}

/** Of `...?first=3&last=7` the path, and the rows of its table. */
function rowsAsked(path: string): [name: string, rows: [first: number, end: number] | null] {
  const [, name, first, last] = /^([^?]*)\?first=(\d+)&last=(\d+)$/.exec(path) ?? [];
  return name === undefined ? [path, null] : [name, [Number(first), Number(last) + 1]];
}

function span(
  { length }: Uint8Array,
  { coding }: Entry,
  rows: [number, number] | null,
  range: Asked["range"],
): readonly [number, number] {
  if (!rows) return range ?? [0, length];
  const row = coding ? length / coding.rows : length;
  return [rows[0] * row, rows[1] * row];
}

function notHere(): Response {
  const error =
    "The exported file does not hold this; open it without what follows # in its address.";
  return new Response(JSON.stringify({ error }), { status: 404 });
}

async function unzipped(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new ReadableError("This file is damaged; export the run again.");
  }
}

/** The numbers as they were, byte by byte. */
export function decoded(
  planes: Uint8Array,
  { rows, columns, width, time }: SeriesCoding,
): Uint8Array<ArrayBuffer> {
  const [series, points] = time === "rows" ? [columns, rows] : [rows, columns];
  const [nextPoint, nextSeries] = time === "rows" ? [columns, 1] : [1, columns];
  const out = new Uint8Array(rows * columns * width);
  let at = 0;
  for (let byte = width - 1; byte >= 0; byte--)
    for (let s = 0; s < series; s++) {
      let last = 0;
      let to = s * nextSeries * width + byte;
      for (let t = 0; t < points; t++, to += nextPoint * width)
        out[to] = last = last ^ planes[at++]!;
    }
  return out;
}

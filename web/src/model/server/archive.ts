// Answers that lie in the page itself, as `sandbox/archive.py` packs them:
//
// - 4 bytes: the length of the index, an unsigned little-endian integer
// - the index, JSON: for each path where its bytes begin and end after the index, and their coding
// - those bytes, compressed by gzip
//
// Each is unpacked when it is first asked for.

import { ReadableError } from "../errors";
import { isTable, oneOf, orNull, record, whole } from "./shapes";
import type { Asked, Send } from "./send";

const LARGEST = 2 ** 29; // bytes of one answer: more than a page can look at
const SMALL = 2 ** 27; // of one that does not say its size beforehand

/** What `SeriesCoding` may be. */
const CODING = record({
  rows: whole(0, LARGEST),
  columns: whole(0, LARGEST),
  width: (value) => value === 4 || value === 8,
  time: oneOf(["rows", "columns"]),
});
const ENTRY = record({ begin: whole(0, 2 ** 40), end: whole(0, 2 ** 40), coding: orNull(CODING) });

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
      this.packed = bytes.subarray(4 + length);
      this.entries = entriesIn(JSON.parse(index), this.packed.length);
    } catch {
      throw damagedFile();
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
    const size = coding && sizeOfTable(coding);
    const plain = await unzipped(this.packed.subarray(begin, end), size ?? SMALL);
    if (size !== null && plain.length !== size) throw damagedFile();
    return coding ? decoded(plain, coding) : plain;
  }
}

const damagedFile = (): ReadableError =>
  new ReadableError("This file is damaged; export the run again.");

const sizeOfTable = ({ rows, columns, width }: SeriesCoding): number => rows * columns * width;

/** An index as JSON has it; it throws where that makes no sense. `bytes`: that there are. */
function entriesIn(index: unknown, bytes: number): ReadonlyMap<string, Entry> {
  if (!isTable(index)) throw damagedFile();
  const entries = Object.entries(index) as [string, Entry][];
  const sound = entries.every(
    ([, entry]) =>
      ENTRY(entry) &&
      entry.begin <= entry.end &&
      entry.end <= bytes &&
      (entry.coding === null || sizeOfTable(entry.coding) <= LARGEST),
  );
  if (!sound) throw damagedFile();
  return new Map(entries);
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

/** It stops as soon as there is more than there should be: a few bytes can stand for gigabytes. */
async function unzipped(
  bytes: Uint8Array<ArrayBuffer>,
  most: number,
): Promise<Uint8Array<ArrayBuffer>> {
  let size = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, control) {
      size += chunk.length;
      if (size > most) control.error(damagedFile());
      else control.enqueue(chunk);
    },
  });
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream.pipeThrough(limit)).arrayBuffer());
  } catch {
    throw damagedFile();
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

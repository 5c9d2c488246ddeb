import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { Api, ApiError } from "../../../src/model/server/api";
import { Archive, decoded, type SeriesCoding } from "../../../src/model/server/archive";
import { encoded as encodedFast, packed } from "../../../src/model/server/archive-writer";
import { base64OfBytes, bytesOfBase64 } from "../../../src/model/server/base64";

const NOTHING = { range: null, signal: null };
const plain = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: ArrayBuffer): string => new TextDecoder().decode(bytes);

/** As `sandbox/archive.py` writes it: the straightforward way, number by number. */
function encoded(table: Uint8Array, { rows, columns, width, time }: SeriesCoding): Uint8Array {
  const [series, points] = time === "rows" ? [columns, rows] : [rows, columns];
  const at = (s: number, t: number): number =>
    width * (time === "rows" ? t * columns + s : s * columns + t);
  const planes: number[] = [];
  for (let byte = width - 1; byte >= 0; byte--)
    for (let s = 0; s < series; s++)
      for (let t = 0; t < points; t++)
        planes.push(table[at(s, t) + byte]! ^ (t ? table[at(s, t - 1) + byte]! : 0));
  return Uint8Array.from(planes);
}

function archiveOf(
  answers: Record<string, { bytes: Uint8Array; coding?: SeriesCoding }>,
): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const index: Record<string, unknown> = {};
  let end = 0;
  for (const [path, { bytes, coding = null }] of Object.entries(answers)) {
    const part = gzipSync(coding ? encoded(bytes, coding) : bytes);
    index[path] = { begin: end, end: (end += part.length), coding };
    parts.push(part);
  }
  const listed = plain(JSON.stringify(index));
  const length = new Uint8Array(new Uint32Array([listed.length]).buffer);
  return new Uint8Array(Buffer.concat([length, listed, ...parts]));
}

const CODINGS: SeriesCoding[] = [
  { rows: 5, columns: 3, width: 4, time: "rows" },
  { rows: 3, columns: 5, width: 4, time: "columns" },
  { rows: 4, columns: 2, width: 8, time: "rows" },
  { rows: 1, columns: 7, width: 8, time: "columns" },
  { rows: 0, columns: 3, width: 4, time: "rows" },
];

test("numbers are what they were, byte by byte", () => {
  for (const coding of CODINGS) {
    const size = coding.rows * coding.columns * coding.width;
    const table = Uint8Array.from({ length: size }, (_, i) => (i * 151 + 37) % 256);
    assert.deepEqual(decoded(encoded(table, coding), coding), table);
    assert.deepEqual(encodedFast(table, coding), encoded(table, coding));
  }
});

const STORE = JSON.stringify({
  ...{ name: "</script>", dynascope: "0.1.0", runs: 0, damage: [], offers: [] },
  shown: { run: null, beside: null, epoch: null },
});
const TABLE = Uint8Array.from({ length: 60 }, (_, i) => 255 - i);
const archive = new Archive(
  archiveOf({
    "/api/store": { bytes: plain(STORE) },
    "/kernel.wasm": { bytes: Uint8Array.from([0, 97, 115, 109]) },
    "/api/run/ab/weights": { bytes: TABLE, coding: CODINGS[0]! },
    "/api/run/ab/replayed": { bytes: TABLE, coding: CODINGS[0]! },
  }),
);

test("answers are those of a server: whole, in ranges, in rows", async () => {
  const bytes = async (path: string, range: [number, number] | null): Promise<number[]> => {
    const answer = await archive.send(path, { ...NOTHING, range });
    assert.ok(answer.ok);
    return [...new Uint8Array(await answer.arrayBuffer())];
  };
  const all = [...TABLE];
  assert.deepEqual(await bytes("/api/run/ab/weights", null), all);
  assert.deepEqual(await bytes("/api/run/ab/weights", [12, 36]), all.slice(12, 36));
  const rows = await bytes("/api/run/ab/replayed?first=1&last=2", null);
  assert.deepEqual(rows, all.slice(12, 36));
});

test("the client's questions are answered", async () => {
  const api = new Api(archive.send);
  assert.equal((await api.store()).name, "</script>");
  assert.equal((await api.kernel()).byteLength, 4);
  const again = await archive.send("/api/store", NOTHING);
  assert.equal(text(await again.arrayBuffer()), STORE);
});

test("an archive that a page writes is one that it reads", async () => {
  const [coding] = CODINGS;
  const made = new Map([
    ["/api/run/ab/weights", { bytes: TABLE, coding: coding! }],
    ["__proto__", { bytes: new Uint8Array(0), coding: null }],
  ]);
  const read = new Archive(await packed(made));
  for (const [path, { bytes }] of made) {
    const answer = await read.send(path, NOTHING);
    assert.deepEqual(new Uint8Array(await answer.arrayBuffer()), bytes);
  }
});

test("what is not in it is said to be missing", async () => {
  const answers = new Api(archive.send);
  for (const ask of [() => answers.runs(), () => answers.run("cd"), () => answers.analysis("ab")])
    await assert.rejects(
      ask(),
      (error) =>
        error instanceof ApiError &&
        error.status === 404 &&
        /exported file does not hold/.test(error.message),
    );
});

test("what was called off is not answered", async () => {
  const signal = AbortSignal.abort();
  await assert.rejects(archive.send("/api/store", { ...NOTHING, signal }), /abort/i);
});

test("what is damaged is said to be", async () => {
  const whole = archiveOf({ "/api/store": { bytes: plain("{}") } });
  for (const bytes of [new Uint8Array(0), new Uint8Array(3), whole.slice(0, 9)])
    assert.throws(() => new Archive(bytes), /damaged/);
  assert.throws(() => new Archive(whole.slice(0, -5)), /damaged/);
  const other = new Archive(whole.fill(0, -12));
  await assert.rejects(other.send("/api/store", NOTHING), /damaged/);
});

/** An archive with one entry, which is as somebody wrote it. */
function tampered(entry: unknown, body: Uint8Array = gzipSync("{}")): Uint8Array<ArrayBuffer> {
  const listed = plain(JSON.stringify({ "/api/store": entry }));
  const length = new Uint8Array(new Uint32Array([listed.length]).buffer);
  return new Uint8Array(Buffer.concat([length, listed, body]));
}

const STRANGE: unknown[] = [
  ...[null, 1, "x", [], {}, { begin: 0, end: 1 }],
  ...[
    { begin: -1, end: 2 },
    { begin: 5, end: 2 },
    { begin: 0, end: 1e9 },
    { begin: 0.5, end: 2 },
  ].map((each) => ({ ...each, coding: null })),
  ...[
    { rows: 1e9, columns: 1e9, width: 8, time: "rows" },
    { rows: 2 ** 29, columns: 2, width: 4, time: "rows" },
    { rows: 1, columns: 1, width: 1e9, time: "rows" },
    { rows: 1, columns: -1, width: 4, time: "rows" },
    { rows: 1, columns: 1, width: 4, time: "__proto__" },
    "rows",
  ].map((coding) => ({ begin: 0, end: 2, coding })),
];

test("an index that makes no sense is damaged", () => {
  for (const entry of STRANGE)
    assert.throws(() => new Archive(tampered(entry)), /damaged/, JSON.stringify(entry));
  const notJson = tampered(null);
  notJson[4] = 0;
  assert.throws(() => new Archive(notJson), /damaged/);
});

test("unpacking ends where a table is larger than it says, or nobody could look at it", async () => {
  const coding = { rows: 4, columns: 2, width: 4, time: "rows" };
  const bomb = gzipSync(new Uint8Array(2 ** 28));
  for (const [body, told] of [
    [bomb, coding],
    [bomb, null],
    [gzipSync(new Uint8Array(31)), coding],
  ] as const) {
    const archive = new Archive(tampered({ begin: 0, end: body.length, coding: told }, body));
    await assert.rejects(archive.send("/api/store", NOTHING), /damaged/);
  }
});

test("text stands for bytes", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  assert.deepEqual(bytesOfBase64(Buffer.from(bytes).toString("base64")), bytes);
  const long = Uint8Array.from({ length: 100_001 }, (_, i) => i);
  assert.equal(base64OfBytes(long), Buffer.from(long).toString("base64"));
});

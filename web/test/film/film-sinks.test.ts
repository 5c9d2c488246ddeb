import assert from "node:assert/strict";
import { test } from "node:test";
import { FetchedSink, MemorySink } from "../../src/film/film-sinks";

const bytes = (...values: number[]): Uint8Array<ArrayBuffer> => Uint8Array.from(values);

test("what is written later, at the beginning, is there; what nobody wrote is empty", async () => {
  const sink = new MemorySink();
  sink.write(bytes(9, 9, 9, 9), 0);
  sink.write(bytes(5, 6), 6);
  sink.write(bytes(1, 2), 0);
  const made = new Uint8Array(await sink.blob("video/mp4").arrayBuffer());
  assert.deepEqual([...made], [1, 2, 9, 9, 0, 0, 5, 6]);
});

test("a film waits while much of it is not fetched yet, and goes on after", async () => {
  const sink = new FetchedSink();
  sink.write(new Uint8Array(2 ** 20), 0);
  await sink.ready();
  sink.write(new Uint8Array(2 ** 23), 2 ** 20);
  let ready = false;
  const waiting = sink.ready().then(() => (ready = true));
  await new Promise((done) => setTimeout(done));
  assert.equal(ready, false);
  assert.deepEqual(
    sink.take().map(({ position }) => position),
    [0, 2 ** 20],
  );
  await waiting;
  assert.deepEqual(sink.take(), []);
});

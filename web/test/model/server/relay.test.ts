import assert from "node:assert/strict";
import { test } from "node:test";
import { Api, ApiError, isAbort } from "../../../src/model/server/api";
import { ReadableError } from "../../../src/model/errors";
import { answerThrough, askThrough } from "../../../src/model/server/relay";
import type { Asked, Send } from "../../../src/model/server/send";

const NOTHING: Asked = { range: null, signal: null };

/** Asks through one end of a channel what is answered at the other. */
async function relayed(send: Send, use: (ask: Send) => Promise<void>): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  answerThrough(port1, send);
  try {
    await use(askThrough(port2));
  } finally {
    port1.close();
    port2.close();
  }
}

test("answers arrive as they were given, each at its question", async () => {
  const send: Send = async (path, { range }) => {
    await new Promise((done) => setTimeout(done, path === "/slow" ? 20 : 0));
    return new Response(`${path} ${range}`, { status: path === "/slow" ? 404 : 200 });
  };
  await relayed(send, async (ask) => {
    const all = [ask("/slow", NOTHING), ask("/quick", { ...NOTHING, range: [3, 5] })];
    const [slow, quick] = await Promise.all(all);
    assert.deepEqual([slow!.status, await slow!.text()], [404, "/slow null"]);
    assert.deepEqual([quick!.status, await quick!.text()], [200, "/quick 3,5"]);
  });
});

test("what is called off ends at both ends", async () => {
  const control = new AbortController();
  let ended: ((why: unknown) => void) | null = null;
  const stopped = new Promise((done) => (ended = done));
  const send: Send = (_, { signal }) =>
    new Promise((_, fail) => {
      signal!.addEventListener("abort", () => {
        ended!(signal!.reason);
        fail(signal!.reason as Error);
      });
      control.abort();
    });
  await relayed(send, async (ask) => {
    await assert.rejects(ask("/long", { range: null, signal: control.signal }), isAbort);
    assert.ok(isAbort(await stopped));
    await assert.rejects(ask("/long", { range: null, signal: AbortSignal.abort() }), isAbort);
  });
});

test("where no answer comes, it is said why", async () => {
  const send: Send = () => Promise.reject(new ReadableError("Nobody is there."));
  await relayed(send, (ask) =>
    assert.rejects(
      new Api(ask).store(),
      (error) => error instanceof ApiError && error.message === "Nobody is there.",
    ),
  );
});

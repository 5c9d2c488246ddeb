import assert from "node:assert/strict";
import { test } from "node:test";
import { Api, ApiError } from "../../../src/model/server/api";
import { fromServer } from "../../../src/model/server/send";

/** What `fetch` is asked for while something is done. */
async function fetched(answer: Response, use: (api: Api) => Promise<void>): Promise<unknown[][]> {
  const asked: unknown[][] = [];
  const before = globalThis.fetch;
  globalThis.fetch = (...given: unknown[]) => {
    asked.push(given);
    return Promise.resolve(answer);
  };
  try {
    await use(new Api(fromServer("/place")));
  } finally {
    globalThis.fetch = before;
  }
  return asked;
}

test("a recipe is posted with its key", async () => {
  const told = { id: "0f", epochs: 8, already: false };
  const asked = await fetched(Response.json(told), async (api) => {
    assert.deepEqual(await api.save({ json: "{}", key: "secret" }), told);
  });
  const headers = { "Content-Type": "application/json", "X-Dynascope-Write": "secret" };
  assert.deepEqual(asked, [
    ["/place/api/runs", { method: "POST", body: "{}", headers, signal: null }],
  ]);
});

test("a refusal is the server's sentence", async () => {
  const refused = Response.json({ error: "The disk is full." }, { status: 507 });
  await fetched(refused, async (api) => {
    await assert.rejects(
      api.save({ json: "{}", key: "secret" }),
      (error: ApiError) => error.status === 507 && error.message === "The disk is full.",
    );
  });
});

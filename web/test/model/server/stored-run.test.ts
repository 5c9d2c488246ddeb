import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { Api, ApiError, isAbort } from "../../../src/model/server/api";
import { fromServer } from "../../../src/model/server/send";
import { RowBlocks } from "../../../src/model/server/row-blocks";
import { lastAtMost, StoredRun } from "../../../src/model/server/stored-run";

// A server that speaks as API.md says, over one run of 50 kept epochs and 6 weights.
const SIZE = 6;
const KEPT = Array.from({ length: 50 }, (_, i) => 2 * i);
const weights = Float32Array.from({ length: KEPT.length * SIZE }, (_, i) => i / 8);
const curves = Float32Array.from({ length: 2 * 99 }, (_, i) => i);
const examples = Int32Array.from([0, 1, 1, 1, 0, 0, 1, 0]);
const ANSWER = {
  id: "ab12",
  seed: 3,
  epochs: 98,
  diverged: null,
  last_sound_epoch: 98,
  precision: "float32",
  config: {
    task: { name: "modular-addition", length: 3, vocab: 2 },
    model: { dim: 1 },
    precision: "float32",
  },
  positions: [0, 2],
  task: { name: "modular-addition", positions: [0, 2], classes: 2, chance: 0.5 },
  embeddings: 2,
  shapes: { token_embedding: [2, 1], position_embedding: [3, 1], query: [1] },
  size: SIZE,
  weight_epochs: KEPT,
  state_epochs: [0, 98],
  not_replayable: "It was imported.",
  curves: ["train_loss", "test_loss"],
  sets: { train: 2, test: null },
  origin: null,
  tags: ["nice"],
  note: null,
  summary: { accuracy: 1 },
  found: { verdict: null },
  thresholds: { solved_accuracy: 0.8, clear_gap: 4, rounding: 1e-20 }, // as the server says, not ours
  notes: [],
};

const asked: string[] = [];
let ignoreRanges = false;
let server: Server;
let api: Api;

function answer(request: IncomingMessage, response: ServerResponse): void {
  asked.push(`${request.url} ${request.headers.range ?? ""}`.trim());
  const json = (value: unknown, status = 200): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  };
  switch (request.url) {
    case "/api/run/ab12":
      return json(ANSWER);
    case "/api/run/own":
      return json({
        ...ANSWER,
        id: "own",
        task: { name: "own data", positions: null, classes: 4, chance: 0.75 },
      });
    case "/api/run/own/sequences?most=256":
      return json({ set: "test", tokens: [[0, 1, 1]], targets: [3] });
    case "/api/run/damaged":
      return json({
        ...ANSWER,
        id: "damaged",
        task: null,
        weight_epochs: null,
        notes: ["The trajectory is damaged."],
      });
    case "/api/run/ab12/curves":
    case "/api/run/damaged/curves":
      return void response.end(Buffer.from(curves.buffer));
    case "/api/run/ab12/weights": {
      const [first, last] = /bytes=(\d+)-(\d+)/
        .exec(request.headers.range ?? "")!
        .slice(1)
        .map(Number) as [number, number];
      const body = Buffer.from(weights.buffer);
      if (ignoreRanges) return void response.end(body);
      return void response.writeHead(206).end(body.subarray(first, last + 1));
    }
    case "/api/run/ab12/state/98":
      return void response.end(Buffer.from(weights.buffer, 0, 3 * SIZE * 4));
    case "/api/run/ab12/examples?split=train":
      return void response.end(Buffer.from(examples.buffer));
    case "/api/runs/sparklines?state=s1":
      return void response.end(Buffer.alloc(3 * 32, 7));
    case "/api/runs/sparklines?state=old":
      return json({ error: "The store has changed since." }, 409);
    case "/api/store":
      return void response.writeHead(500).end("<h1>no JSON</h1>");
    case "/api/runs":
      return void response.writeHead(200).end('{"state": "s1", "cou');
    case "/api/run/forbidden":
      return json({ error: "no" }, 403);
    case "/api/run/slow":
      return; // never
    default:
      return json({ error: "There is no such run." }, 404);
  }
}

before(async () => {
  server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  api = new Api(fromServer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
});
after(() => {
  server.closeAllConnections();
  server.close();
});

test("a run opens with its curves; weights come whole when they are few", async () => {
  const run = await StoredRun.open(api, "ab12");
  assert.deepEqual(run.task, {
    name: "modular-addition",
    length: 3,
    vocab: 2,
    positions: [0, 2],
  });
  assert.deepEqual([...run.curves["test_loss"]!.slice(0, 2)], [99, 100]);
  assert.equal(run.note, "");
  assert.deepEqual(run.details.thresholds, ANSWER.thresholds);
  assert.ok(!run.ready(7));
  assert.throws(() => run.weights(7), { name: "ReadableError", message: /epoch 7 are not loaded/ });
  await run.load(7);
  assert.deepEqual(run.weights(7), weights.slice(3 * SIZE, 4 * SIZE));
  assert.deepEqual([run.source(6), run.source(7), run.shownEpoch(7)], ["kept", "nearest", 6]);
  assert.deepEqual(run.weights(1e9), weights.slice(49 * SIZE));
  assert.deepEqual(run.weights(-5), weights.slice(0, SIZE));
  assert.equal(asked.filter((each) => each.includes("/weights")).length, 1);
});

test("of data of a user's own there are no relevant positions, whatever the config says", async () => {
  const unknown = { name: "own data", length: 3, vocab: 2, positions: null };
  const own = await api.run("own");
  assert.deepEqual(own.task, { ...unknown, classes: 4, chance: 0.75 });
  const damaged = await api.run("damaged");
  assert.deepEqual(damaged.task, { ...unknown, classes: 2, chance: null });
  const told = { set: "test", tokens: [[0, 1, 1]], targets: [3] };
  assert.deepEqual(await api.sequences(own, 256), told);
});

test("many weights come in blocks, ahead of the playhead, and are forgotten in time", async () => {
  const details = await api.run("ab12");
  const options = { wholeBytes: 0, blockBytes: 5 * SIZE * 4, limitBytes: 4 * 5 * SIZE * 4 };
  const run = StoredRun.of(details, {}, api, options);
  asked.length = 0;
  await Promise.all([run.load(0), run.load(2), run.load(8)]);
  assert.deepEqual(asked, ["/api/run/ab12/weights bytes=0-119"], "one request for one block");
  run.prefetch(8, 1);
  await Promise.all([run.load(10), run.load(20)]);
  assert.equal(asked.length, 3);
  for (const epoch of KEPT) {
    await run.load(epoch);
    assert.deepEqual(run.weights(epoch), weights.slice((epoch / 2) * SIZE, (epoch / 2 + 1) * SIZE));
  }
  assert.ok(run.ready(98) && !run.ready(0), "the oldest went");
});

test("a server that knows no ranges sends all, and the right part is taken", async () => {
  ignoreRanges = true;
  const details = await api.run("ab12");
  assert.deepEqual(await api.weights(details, 2, 4), weights.slice(2 * SIZE, 4 * SIZE));
  ignoreRanges = false;
  assert.equal((await api.weights(details, 3, 3)).length, 0);
});

test("states, examples, sparklines", async () => {
  const details = await api.run("ab12");
  assert.equal((await api.state(details, 98)).length, 3 * SIZE);
  const { tokens, targets } = await api.examples(details, "train");
  assert.deepEqual(
    [[...tokens], [...targets]],
    [
      [0, 1, 1, 1, 0, 0],
      [1, 0],
    ],
  );
  await assert.rejects(api.examples(details, "test"), {
    message: "The test set of this run is not known.",
  });
  const { thresholds } = details;
  const table = {
    state: "s1",
    count: 3,
    left_out: 0,
    columns: {},
    same: {},
    shares: [],
    thresholds,
  };
  assert.equal((await api.sparklines(table))[95], 7);
  await assert.rejects(api.sparklines({ ...table, count: 4 }), {
    message: /96 bytes where 128 were due/,
  });
  await assert.rejects(api.sparklines({ ...table, state: "old" }), {
    status: 409,
    message: "The store has changed since.",
  });
});

test("what goes wrong is one sentence", async () => {
  await assert.rejects(api.run("nosuch"), {
    name: "ApiError",
    status: 404,
    message: "There is no such run.",
  });
  await assert.rejects(api.run("../x?y"), { status: 404 });
  await assert.rejects(api.store(), {
    status: 500,
    message: "The server answered with status 500.",
  });
  await assert.rejects(api.runs(), { message: /cut off/ });
  await assert.rejects(api.run("forbidden"), { status: 403, message: /open the address/ });
  const gone = new Api(fromServer("http://127.0.0.1:1"));
  await assert.rejects(
    gone.store(),
    (error) =>
      error instanceof ApiError && error.status === 0 && /does not answer/.test(error.message),
  );
  const damaged = await StoredRun.open(api, "damaged");
  assert.ok(!damaged.ready(0));
  damaged.prefetch(0);
  await assert.rejects(damaged.load(0), { message: "The trajectory is damaged." });
});

test("requests can be called off", async () => {
  const control = new AbortController();
  const waiting = api.run("slow", control.signal);
  control.abort();
  await assert.rejects(waiting, (error) => isAbort(error));
});

test("blocks: a failed request is tried again, a closed table forgets", async () => {
  let fails = 1;
  const blocks = new RowBlocks({
    rows: 7,
    rowBytes: 8,
    blockBytes: 16,
    wholeBytes: 0,
    fetch: async (first, end) => {
      if (fails-- > 0) throw new Error("no");
      return Float64Array.from({ length: end - first }, (_, i) => first + i);
    },
  });
  assert.equal(blocks.count, 4);
  await assert.rejects(blocks.load(6));
  await blocks.load(6);
  assert.deepEqual(blocks.row(6), Float64Array.of(6));
  assert.equal(blocks.row(0), null);
  blocks.prefetch(0, 0);
  await blocks.load(1);
  assert.deepEqual(blocks.row(1), Float64Array.of(1));
  blocks.close();
  assert.equal(blocks.bytes, 0);
});

test("the nearest kept epoch at or before", () => {
  for (let value = -1; value < 12; value++) {
    const kept = [0, 3, 4, 9];
    const plain = Math.max(0, kept.filter((each) => each <= value).length - 1);
    assert.equal(lastAtMost(kept, value), plain);
  }
  assert.equal(lastAtMost([], 3), -1);
});

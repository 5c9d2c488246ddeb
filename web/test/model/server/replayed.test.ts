import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, isAbort } from "../../../src/model/server/api";
import { detailsOf, type RunAnswer } from "../../../src/model/server/answers";
import { StoredRun } from "../../../src/model/server/stored-run";
import type { RunInfo } from "../../../src/model/types";

const SIZE = 3;
const EPOCHS = 100;
const KEPT = [0, 40, 100];

function answer(changes: Partial<RunAnswer> = {}): RunAnswer {
  const config = { task: { length: 3, vocab: 2 }, precision: "float64" };
  const rest = { id: "ab", size: SIZE, epochs: EPOCHS, diverged: null, notes: [], task: null };
  const kept = { weight_epochs: KEPT, state_epochs: KEPT, not_replayable: null };
  return { config, embeddings: 2, ...rest, ...kept, ...changes } as unknown as RunAnswer;
}

/** A server whose weights are the epoch, as often as there are weights; it can be held up. */
class Weights {
  readonly asked: string[] = [];
  refusals: Error[] = [];
  hold = false;

  async weights(run: RunInfo, first: number, end: number): Promise<Float64Array> {
    return rows([...run.weightEpochs].slice(first, end));
  }

  async replayed(_: RunInfo, first: number, end: number, signal?: AbortSignal) {
    this.asked.push(`${first}-${end}`);
    if (this.hold)
      await new Promise((_, fail) => signal!.addEventListener("abort", () => fail(signal!.reason)));
    const refused = this.refusals.shift();
    if (refused) throw refused;
    return rows(Array.from({ length: end - first }, (_, i) => first + i));
  }
}

const rows = (epochs: readonly number[]): Float64Array =>
  Float64Array.from(epochs.flatMap((epoch) => Array<number>(SIZE).fill(epoch)));

function opened(changes: Partial<RunAnswer> = {}) {
  const server = new Weights();
  return { server, run: StoredRun.of(detailsOf(answer(changes)), {}, server) };
}

test("an epoch that was not kept has its own weights, in blocks, asked for once", async () => {
  const { server, run } = opened();
  for (const epoch of [0, 40, 57, 58, 63, 100]) {
    assert.equal(await run.load(epoch), null);
    assert.deepEqual([...run.weights(epoch)], [epoch, epoch, epoch]);
    assert.equal(run.source(epoch), KEPT.includes(epoch) ? "kept" : "recomputed");
    assert.equal(run.shownEpoch(epoch), epoch);
  }
  assert.deepEqual(server.asked, ["32-64"]);
  await run.load(99);
  assert.equal(server.asked.at(-1), "96-101");
});

test("where nothing can be replayed, the nearest kept one before stands for an epoch", async () => {
  const { server, run } = opened({ not_replayable: "Imported." });
  await run.load(57);
  assert.deepEqual([run.source(57), run.shownEpoch(57)], ["nearest", 40]);
  assert.deepEqual([...run.weights(57)], [40, 40, 40]);
  assert.deepEqual(server.asked, []);
});

test("nothing is computed beyond a divergence", async () => {
  const { run } = opened({ diverged: 50 });
  assert.deepEqual([run.source(50), run.source(51)], ["recomputed", "nearest"]);
});

test("the server is asked again until it is done", async () => {
  const { server, run } = opened();
  const reached: number[] = [];
  run.onReached = (epoch) => reached.push(epoch);
  server.refusals = [12, null, 30].map((epoch) => new ApiError("Ask once more.", 503, epoch));
  assert.equal(await run.load(57), null);
  assert.deepEqual(reached, [12, 30]);
  assert.deepEqual(server.asked, ["32-64", "32-64", "32-64", "32-64"]);
});

test("what cannot be computed after all gives way to what was kept, and says why", async () => {
  const { server, run } = opened();
  server.refusals = [new ApiError("It differs.", 422)];
  assert.equal(await run.load(57), "It differs.");
  assert.deepEqual([...run.weights(57)], [40, 40, 40]);
  assert.deepEqual([run.source(57), run.shownEpoch(57)], ["nearest", 40]);
});

test("moving on calls off what is under way for another block, and nothing else", async () => {
  const { server, run } = opened();
  server.hold = true;
  const given = run.load(57).catch((error: unknown) => error);
  const shared = run.load(60).catch((error: unknown) => error);
  assert.deepEqual(server.asked, ["32-64"]);
  server.hold = false;
  await run.load(70);
  assert.ok(isAbort(await given) && isAbort(await shared));
  assert.deepEqual([...run.weights(70)], [70, 70, 70]);
  await run.load(57); // and it can be asked for again
  assert.deepEqual([...run.weights(57)], [57, 57, 57]);
});

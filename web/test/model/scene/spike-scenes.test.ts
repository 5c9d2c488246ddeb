import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_TARGET, sequencesOfClasses } from "../../../src/model/own-data";
import { csv, curvesCsv, fileName, panelCsv, type PanelData } from "../../../src/model/panel-csv";
import { planOf, planeEpoch, sceneOver } from "../../../src/model/scene/scene-plan";
import {
  epochsAround,
  changedPredictions,
  displacement,
  movement,
} from "../../../src/model/scene/spike-scenes";
import { sequencesOf } from "../../../src/model/sequences";
import type { OwnTask, Panel, Plane, RunInfo, ScenePlan } from "../../../src/model/types";
import { PANELS, POINT_PANELS } from "../../../src/model/types";
import { modularAddition, tasks } from "../../tasks";

const run = {
  config: { task: { length: 2, vocab: 2 }, model: { dim: 2, hidden: 3, norm: "rms" } },
  task: modularAddition(2, 2, [1]),
  embeddings: 2,
  weightEpochs: Int32Array.of(0, 10, 20, 30),
  notReplayable: "It was imported.",
  epochs: 30,
  diverged: null,
  lastSoundEpoch: 30,
} as unknown as RunInfo;
const sequences = sequencesOf(tasks, modularAddition(2, 2, [1]), [
  [0, 1],
  [1, 0],
]);
const OWN: OwnTask = {
  name: "own data",
  length: 2,
  vocab: 2,
  positions: null,
  classes: 2,
  chance: 0.5,
};
const plane: Plane = {
  a: Float64Array.of(1, 0),
  b: Float64Array.of(0, 1),
  origin: new Float64Array(2),
  shares: [1, 0],
  projected: false,
};
const plan: ScenePlan = {
  ...planOf(run, sequences),
  planes: Object.fromEntries(POINT_PANELS.map((panel) => [panel, plane])) as ScenePlan["planes"],
};

const AROUND: [number, number, number, number][] = [
  [12, 15, 10, 20],
  [10, 10, 0, 10],
  [11, 11, 10, 20],
  [5, 30, 0, 30],
  [31, 33, 30, 30],
  [0, 0, 0, 10],
];
for (const [start, peak, before, after] of AROUND)
  test(`a spike from ${start} to ${peak} lies between kept epochs ${before} and ${after}`, () => {
    assert.deepEqual(epochsAround({ start, peak }, run), { before, after });
  });

test("where every epoch can be had, a spike lies between its own", () => {
  const every = { ...run, notReplayable: null };
  assert.deepEqual(epochsAround({ start: 13, peak: 14 }, every), { before: 12, after: 14 });
  assert.deepEqual(epochsAround({ start: 0, peak: 0 }, every), { before: 0, after: 1 });
});

test("displacement by hand, the farthest first, blow-ups left out", () => {
  const [before, after] = [sceneOver(plan), sceneOver(plan)];
  const points = after.points.receptors;
  points.x.set([3, 0, NaN]);
  points.y.set([4, 1, 0]);
  const moved = displacement(before.points.receptors, points);
  assert.deepEqual([...moved.length], [5, 1, NaN]);
  assert.deepEqual([...moved.farthest], [0, 1]);
  assert.deepEqual([moved.dx[0], moved.dy[0], moved.x[0]], [3, 4, 0]);
});

test("which predictions changed, which panel moved most", () => {
  const [before, after] = [sceneOver(plan), sceneOver(plan)];
  before.predictions.set([0, 1]);
  after.predictions.set([0, 0]);
  assert.deepEqual([...changedPredictions(before, after)], [1]);
  before.points.output.x.set([0, 2]); // spread 1
  after.points.output.x.set([0, 2]);
  before.points.sequence.x.set([0, 2]);
  after.points.sequence.x.set([3, 5]);
  const found = movement(before, after);
  assert.deepEqual(found[0], { panel: "sequence", share: 3 });
  assert.equal(found.find((each) => each.panel === "output")!.share, 0);
});

test("a scene is one buffer that can be taken up again", () => {
  const scene = sceneOver(plan);
  scene.points.tokens.x.set([1, 2]);
  scene.maps.output_map.logits.fill(0.5);
  scene.predictions.set([1, 1]);
  const again = sceneOver(plan, structuredClone(scene.buffer));
  assert.deepEqual(again, { ...scene, buffer: again.buffer });
  assert.notEqual(
    sceneOver(plan, new ArrayBuffer(8)).buffer.byteLength,
    8,
    "a buffer that does not fit is left",
  );
});

test("large runs are bounded, relevant positions always shown", () => {
  const large = {
    ...run,
    config: {
      task: { length: 1024, vocab: 1024 },
      model: { dim: 1024, hidden: 65536, norm: "none" },
    },
    embeddings: 8192,
    task: modularAddition(1024, 1024, [1000, 1023]),
  } as unknown as RunInfo;
  const big = planOf(large, sequences);
  assert.ok(sceneOver(big).buffer.byteLength < 64e6);
  assert.ok(big.positions.includes(1000) && big.positions.includes(1023));
  assert.deepEqual(
    [big.radius, big.hidden, big.mapWidth],
    [null, 65536 * 2 <= 2 ** 18 ? 65536 : 0, 16],
  );
  assert.equal(planeEpoch({ ...run, diverged: 25, lastSoundEpoch: 24 }), 20);
  assert.equal(planeEpoch({ ...run, diverged: 20, lastSoundEpoch: 19 }), 10);
  assert.equal(planeEpoch(run), 30);
});

test("CSV: cells, hostile text, every panel", () => {
  assert.equal(
    csv(
      ["a", "b"],
      [
        [1, 'x,"y"'],
        [NaN, "=1+1"],
        [0.1 + 0.2, "two\nlines"],
      ],
    ),
    'a,b\r\n1,"x,""y"""\r\nNaN,\'=1+1\r\n0.30000000000000004,"two\nlines"\r\n',
  );
  const scene = sceneOver(plan);
  scene.points.positions.x.set([0.5, -1e-9]);
  const curves = {
    train_loss: Float32Array.of(1, 0.5),
    test_accuracy: Float32Array.of(0, 1),
    "grad_norm/query": Float32Array.of(NaN, 2),
  };
  const what: PanelData = { scene, plan, sequences, curves };
  const lines = (panel: Panel): string[] => panelCsv(panel, what)!.trimEnd().split("\r\n");
  assert.deepEqual(lines("positions"), ["position,relevant,x,y", "0,0,0.5,0", "1,1,-1e-9,0"]);
  assert.deepEqual(lines("sequence"), ["sequence,target,x,y", "1·0,0,0,0", "0·1,1,0,0"]);
  const own = sequencesOfClasses(OWN, [[1, 0]], [NO_TARGET]);
  const ofOwn = (panel: Panel): string[] =>
    panelCsv(panel, { ...what, sequences: own })!
      .split("\r\n")
      .slice(0, 2);
  assert.deepEqual(ofOwn("positions"), ["position,x,y", "0,0.5,0"]);
  assert.deepEqual(ofOwn("probabilities"), ["sequence,target,class,probability", "10,,0,0"]);
  assert.equal(lines("normalized").at(-1), "query,,0,0");
  assert.deepEqual(lines("embeddings").slice(0, 3), ["token,position,x,y", "0,0,0,0", "0,1,0,0"]);
  assert.deepEqual(lines("loss"), ["epoch,train_loss", "0,1", "1,0.5"]);
  assert.deepEqual(lines("gradients"), ["epoch,grad_norm/query", "0,NaN", "1,2"]);
  assert.equal(lines("decision_map").length, 1 + 64 * 64 * 2);
  for (const panel of PANELS) {
    const text = panelCsv(panel, what);
    if (text === null) assert.ok(panel === "shares" || panel === "hessian");
    else
      assert.equal(
        new Set(
          text
            .trimEnd()
            .split("\r\n")
            .map((line) => line.split(",").length),
        ).size,
        1,
        panel,
      );
  }
  assert.equal(curvesCsv({}), "epoch\r\n");
});

test("a file is named by the epoch of its data, or by none where it has them all", () => {
  const id = "0123456789abcdef0123";
  assert.equal(fileName(id, "sequence", "csv", 14), "01234567-epoch14-sequence.csv");
  assert.equal(fileName(id, "hessian", "png", 125), "01234567-epoch125-hessian.png");
  assert.equal(fileName(id, "loss", "svg", 17), "01234567-epoch17-loss.svg");
  for (const panel of ["loss", "accuracy", "gradients", "shares", "hessian"] as const)
    assert.equal(fileName(id, panel, "csv", 17), `01234567-${panel}.csv`);
});

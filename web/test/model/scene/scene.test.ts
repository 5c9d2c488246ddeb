// Scenes against what Python computes (scene_cases.json), through the built kernel.

import assert from "node:assert/strict";
import { test } from "node:test";
import { modelOptions } from "../../../src/model/kernel";
import { hasOwnData } from "../../../src/model/own-data";
import { isEmpty } from "../../../src/model/scene/axis-ranges";
import { panelExtent, runExtents } from "../../../src/model/scene/panel-extents";
import { SceneBuilder, type SceneKernel } from "../../../src/model/scene/scene";
import { sceneKernel } from "../../../src/model/scene/scene-kernel";
import { sceneOver } from "../../../src/model/scene/scene-plan";
import { chooseSequences, sequencesOf } from "../../../src/model/sequences";
import {
  POINT_PANELS,
  UNIT_ENDS,
  UNITS_OVER,
  type Config,
  type KernelTask,
  type Numbers,
  type PointPanel,
  type RunInfo,
} from "../../../src/model/types";
import { kernel, modularAddition, tasks } from "../../tasks";
import CASES from "./scene_cases.json";

type Case = (typeof CASES)[number];
type Planes = Record<PointPanel, { axes: number[][]; shares: number[]; mean: number[] }>;

function infoOf(each: Case): RunInfo {
  const config = each.config as unknown as Config;
  config.task.name ??= "modular-addition";
  return {
    id: each.name,
    seed: 5,
    config,
    task: modularAddition(config.task.vocab, config.task.length, each.positions),
    embeddings: each.embeddings,
    shapes: each.shapes as Record<string, number[]>,
    size: each.weights.length,
    weightEpochs: Int32Array.of(0),
    epochs: 0,
    diverged: null,
    lastSoundEpoch: 0,
    curveNames: [],
    tags: [],
    note: "",
    origin: null,
    edits: [],
  };
}

function kernelTask({ task }: RunInfo): KernelTask {
  assert.ok(!hasOwnData(task));
  return task;
}

function weightsOf(each: Case): Numbers {
  return each.config.precision === "float64"
    ? Float64Array.from(each.weights)
    : Float32Array.from(each.weights);
}

function adapted(info: RunInfo): SceneKernel {
  return sceneKernel(kernel, kernel.model(modelOptions(info.config)));
}

function builderOf(each: Case): SceneBuilder {
  const info = infoOf(each);
  const { length, vocab } = info.config.task;
  const sequences = sequencesOf(tasks, modularAddition(vocab, length, each.positions), each.tokens);
  assert.deepEqual([...sequences.tokens], each.tokens.flat(), "the cases are in order");
  return new SceneBuilder(adapted(info), info, sequences, weightsOf(each));
}

function near(
  found: ArrayLike<number>,
  wanted: ArrayLike<number>,
  tolerance: number,
  what: string,
): void {
  assert.equal(found.length, wanted.length, what);
  for (let i = 0; i < wanted.length; i++)
    assert.ok(
      Math.abs(found[i]! - wanted[i]!) <= tolerance,
      `${what}[${i}]: ${found[i]} is not ${wanted[i]}`,
    );
}

for (const each of CASES) {
  const dim = each.config.model.dim;

  test(`${each.name}: stages have Python's bits`, () => {
    const scene = builderOf(each).build(0, weightsOf(each));
    for (const stage of ["scores", "attention", "hidden", "probabilities"] as const)
      assert.deepEqual([...scene[stage]], each.stages[stage], stage);
    assert.ok(scene.finite);
    const rows = each.tokens.map((_, i) =>
      each.stages.probabilities.slice(i * each.embeddings, (i + 1) * each.embeddings),
    );
    assert.deepEqual(
      [...scene.predictions],
      rows.map((row) => row.indexOf(Math.max(...row))),
    );
    near(
      scene.norms.sequence,
      each.panels.sequence.map((xi) => Math.hypot(...xi)),
      1e-12,
      "norms",
    );
  });

  test(`${each.name}: points lie where Python has them`, () => {
    const builder = builderOf(each);
    const scene = builder.build(0, weightsOf(each));
    const planes = each.planes as Planes | null;
    for (const panel of POINT_PANELS) {
      const wanted = each.panels[panel] as number[][];
      const { x, y } = scene.points[panel];
      if (dim <= 2) {
        assert.deepEqual(
          [...x],
          wanted.map((v) => v[0]),
          panel,
        );
        assert.deepEqual(
          [...y],
          wanted.map((v) => v[1] ?? 0),
          panel,
        );
        continue;
      }
      const { axes, shares } = planes![panel];
      if (shares[1]! < 1e-12) continue; // a line of points: any second axis would do
      const along = (axis: number[]): number[] =>
        wanted.map((v) => v.reduce((sum, e, c) => sum + e * axis[c]!, 0));
      near(x, along(axes[0]!), 1e-9, `${panel}.x`);
      near(y, along(axes[1]!), 1e-9, `${panel}.y`);
      near(builder.plan.planes[panel].shares, shares, 1e-12, `${panel}.shares`);
    }
    for (const end of UNIT_ENDS) {
      const { a, b } = builder.plan.planes[UNITS_OVER];
      const on = (axis: Float64Array): number[] =>
        (each.panels[end] as number[][]).map((v) => v.reduce((sum, e, c) => sum + e * axis[c]!, 0));
      near(scene.neurons[end].x, on(a), 1e-9, `neurons.${end}.x`);
      near(scene.neurons[end].y, on(b), 1e-9, `neurons.${end}.y`);
    }
    if (dim === 2) assert.deepEqual([scene.query.x[0], scene.query.y[0]], each.query);
    assert.equal(builder.plan.planes.sequence.projected, dim > 2);
  });

  test(`${each.name}: a map at a sequence's own place says what the sequence says`, () => {
    const builder = builderOf(each);
    const scene = builder.build(0, weightsOf(each));
    if (dim > 2) return; // points lie off the plane there: see the next test
    const { mapWidth, mapHeight, classes } = builder.plan;
    const tolerance = each.config.precision === "float64" ? 1e-6 : 1e-5; // maps are float32
    for (const [map, panel] of [
      ["decision_map", "sequence"],
      ["output_map", "output"],
    ] as const) {
      const [px, py] = [scene.points[panel].x[3]!, scene.points[panel].y[3]!];
      // Cell (5, 0) of the grid has its centre on the point.
      const extent = {
        x0: px - 5.5,
        x1: px - 5.5 + mapWidth,
        y0: py - 0.5,
        y1: py - 0.5 + mapHeight,
      };
      const { logits, extent: kept } = builder.build(0, weightsOf(each), { [map]: extent }).maps[
        map
      ];
      assert.deepEqual(kept, extent);
      near(
        softmax(logits.subarray(5 * classes, 6 * classes)),
        scene.probabilities.subarray(3 * classes, 4 * classes),
        tolerance,
        map,
      );
      assert.ok(logits.length === mapWidth * mapHeight * classes && logits.every(Number.isFinite));
    }
  });
}

function softmax(logits: Float32Array): Float64Array {
  const exps = Float64Array.from(logits, (l) => Math.exp(l - Math.max(...logits)));
  return exps.map((e) => e / exps.reduce((a, b) => a + b));
}

test("eight dimensions: a map says what the model says of the plane's points", () => {
  const each = CASES.find((one) => one.name === "eight dimensions")!;
  const builder = builderOf(each);
  const extent = { x0: -1, x1: 2, y0: -2, y1: 1 };
  const { maps } = builder.build(0, weightsOf(each), { decision_map: extent, output_map: extent });
  const model = kernel.model(modelOptions(infoOf(each).config));
  for (const [map, stage] of [
    ["decision_map", "sequence"],
    ["output_map", "output"],
  ] as const) {
    const { width, height, classes, logits } = maps[map];
    const { a, b, origin } = builder.plan.planes[stage];
    for (const [column, row] of [
      [0, 0],
      [7, 3],
      [width - 1, height - 2],
    ] as const) {
      const x = extent.x0 + ((column + 0.5) / width) * 3;
      const y = extent.y0 + ((row + 0.5) / height) * 3;
      const point = origin.map((o, c) => o + x * a[c]! + y * b[c]!);
      const tokens = Int32Array.from(each.tokens[0]!);
      const wanted = model.forward(weightsOf(each), tokens, { patch: { [stage]: point } }).logits
        .data;
      const at = (row * width + column) * classes;
      near(logits.subarray(at, at + classes), wanted, 1e-5, map);
    }
  }
});

test("eight dimensions: the map's plane goes through the mean of its points", () => {
  const each = CASES.find((one) => one.name === "eight dimensions")!;
  const { a, b, origin } = builderOf(each).plan.planes.sequence;
  const mean = (each.planes as Planes).sequence.mean;
  const dot = (u: ArrayLike<number>, v: ArrayLike<number>): number =>
    Array.from(u).reduce((s, e, i) => s + e * v[i]!, 0);
  near(
    origin.map((o, c) => o + dot(mean, a) * a[c]! + dot(mean, b) * b[c]!),
    mean,
    1e-12,
    "mean",
  );
  near([dot(origin, a), dot(origin, b), dot(a, b)], [0, 0, 0], 1e-12, "right angles");
});

test("weights that blew up make a scene that says so, and no plane of them", () => {
  for (const each of CASES) {
    const info = infoOf(each);
    const sequences = chooseSequences(tasks, kernelTask(info));
    const broken = weightsOf(each).fill(NaN);
    const builder = new SceneBuilder(adapted(info), info, sequences, broken);
    assert.ok(!builder.build(0, broken).finite);
    assert.ok(builder.build(0, weightsOf(each)).finite);
    assert.ok([...builder.plan.planes.sequence.a].every(Number.isFinite));
  }
});

test("a scene is written over in place, and extents hold what they should", async () => {
  const each = CASES[0]!;
  const builder = builderOf(each);
  const scene = sceneOver(builder.plan);
  assert.equal(builder.build(7, weightsOf(each), {}, scene), scene);
  assert.deepEqual(scene.points, builder.build(7, weightsOf(each)).points);
  assert.equal(scene.epoch, 7);
  const normalized = panelExtent("normalized", scene, builder.plan);
  assert.ok(normalized.x0 <= -Math.SQRT2 && normalized.y1 >= Math.SQRT2);
  const receptors = panelExtent("receptors", scene, builder.plan);
  assert.ok(receptors.x0 <= 0 && receptors.x1 >= 0);
  const extents = await runExtents(builder, [0, 1], (epoch) =>
    epoch ? weightsOf(each).fill(NaN) : weightsOf(each),
  );
  for (const panel of POINT_PANELS) assert.ok(!isEmpty(extents[panel]));
});

test("256 sequences with both maps take a few milliseconds", () => {
  const info = infoOf(CASES[0]!);
  const chosen = chooseSequences(tasks, kernelTask(info));
  const rows = Array.from({ length: 256 }, (_, i) =>
    Array.from(chosen.tokens.subarray((i % chosen.count) * 12, ((i % chosen.count) + 1) * 12)),
  );
  const sequences = sequencesOf(tasks, kernelTask(info), rows);
  const builder = new SceneBuilder(adapted(info), info, sequences, weightsOf(CASES[0]!));
  const extent = { x0: -2, x1: 2, y0: -2, y1: 2 };
  const scene = sceneOver(builder.plan);
  const times = Array.from({ length: 30 }, () => {
    const start = performance.now();
    builder.build(0, weightsOf(CASES[0]!), { decision_map: extent, output_map: extent }, scene);
    return performance.now() - start;
  }).sort((a, b) => a - b);
  console.log(`scene of 256 sequences, median ${times[15]!.toFixed(2)} ms`);
  assert.ok(times[15]! < 16, `${times[15]} ms`);
});

// Runs cases that Python wrote through the compiled kernel, and writes what came out.
//
//   node run.mjs BUNDLE KERNEL.WASM FOLDER
//
// FOLDER has cases.json, in which {"$": [offset, count, type]} stands for an array in cases.bin.
// A result is an object of arrays (written the same way to results.json and results.bin), numbers
// and texts; an error that the kernel's wrapper throws is {"error": its sentence}.

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [bundle, wasm, folder] = process.argv.slice(2);
const {
  Kernel,
  LiveRun,
  SeedRun,
  seedResult,
  CURVES,
  STEP_CURVES,
  modelOptions,
  bySum,
  formulaOf,
} = await import(pathToFileURL(bundle));
const bytes = readFileSync(wasm);
const kernel = await Kernel.load(bytes);

const TYPES = {
  f4: Float32Array,
  f8: Float64Array,
  i4: Int32Array,
  u1: Uint8Array,
};
const given = readFileSync(`${folder}/cases.bin`);
const cases = JSON.parse(
  readFileSync(`${folder}/cases.json`, "utf8"),
  (_, value) => {
    if (!value?.$) return value;
    const [offset, count, type] = value.$;
    const Type = TYPES[type];
    return new Type(
      given.buffer
        .slice(given.byteOffset + offset)
        .slice(0, count * Type.BYTES_PER_ELEMENT),
    );
  },
);

/** Arrays of tensors under their names. */
const flat = (tensors, prefix = "") =>
  Object.fromEntries(
    Object.entries(tensors).map(([name, t]) => [prefix + name, t.data]),
  );
const shapes = (tensors) =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(tensors).map(([name, t]) => [name, t.shape]),
    ),
  );

/** What one set of weights gives, in every way that the kernel offers. */
function everything(c) {
  const model = kernel.model(c.model);
  const out = { initial: model.initialize(c.seed) };
  const plain = model.forward(c.weights, c.tokens);
  Object.assign(out, flat(plain), { shapes: shapes(plain) });
  const { ablate, patch } = c;
  Object.assign(
    out,
    flat(model.forward(c.weights, c.tokens, { ablate, patch }), "changed_"),
  );
  for (const stage of ["sequence", "output"])
    out[`grid_${stage}`] = model.grid(c.weights, { stage, ...c.grid }).data;
  const several = model.evaluate(c.rows, c.task_tokens, c.targets);
  Object.assign(out, { loss: several.loss, accuracy: several.accuracy });
  for (const [name, cut] of [
    ["", undefined],
    ["cut_", ablate],
  ]) {
    const found = model.gradient(c.weights, c.tokens, c.targets, cut);
    Object.assign(out, {
      [`${name}mean_loss`]: found.loss,
      [`${name}gradient`]: found.gradient,
    });
  }
  Object.assign(out, flat(model.circuit(c.weights, c.crossed), "circuit_"));
  out.parameters = JSON.stringify(model.parameters);
  model.dispose();
  return out;
}

const trainerOf = (model, c) =>
  model.trainer({
    training: c.config.training,
    seed: c.seed,
    train: kernel.dataset(c.task, c.seed, "train", c.config.task.train_size),
    test: kernel.dataset(c.task, c.seed, "test", c.config.task.test_size),
    unseen: c.unseen,
    start: c.start ?? model.initialize(c.seed),
    frozen: c.frozen,
    full_gradients: c.config.record.full_gradients,
  });

/** A run: in one go, or in pieces [["advance", 3], ["advanceSteps", 5], ["setParameters", ...]]. */
function train(c) {
  const model = kernel.model(modelOptions(c.config));
  const trainer = trainerOf(model, c);
  model.dispose();
  const out = { first: trainer.curvesNow() };
  if (c.state) trainer.setState(c.state, c.epoch);
  const rows = {
    curves: [],
    weights: [],
    states: [],
    stepCurves: [],
    stepWeights: [],
  };
  for (const [method, value, keep] of c.pieces) {
    const recorded = trainer[method](value, keep);
    for (const name in rows)
      for (const row of recorded?.[name] ?? []) rows[name].push(row);
  }
  const Type = trainer.parameters().constructor;
  for (const name in rows) out[name] = Type.from(rows[name]);
  Object.assign(out, { end: trainer.parameters(), state: trainer.state() });
  out.progress = JSON.stringify(trainer.progress);
  trainer.dispose();
  return out;
}

/** A run that is trained in the page, in pieces; ["branch", 3] goes on from an epoch of it. Weights
 * are changed by a factor, since whoever wrote the case does not know them. */
function live(c) {
  let run = LiveRun.start(kernel, c.config, c.seed, c.start ?? null);
  for (const [method, value] of c.pieces) {
    if (method === "branch") {
      const history = run.history(value);
      run.dispose();
      run = LiveRun.goingOn(kernel, history);
    } else if (method === "scale")
      run.setParameters(run.weightsNow.map((x) => x * value));
    else run[method](value);
  }
  const epochs = [...run.states.keys()].sort((a, b) => a - b);
  const out = {
    curves: run.curves.rows(0, Infinity),
    weights: run.weights.rows(0, Infinity),
    states: Float64Array.from(
      epochs.flatMap((epoch) => [...run.states.get(epoch)]),
    ),
    epochs: Int32Array.from(epochs),
    end: run.weightsNow,
    edits: JSON.stringify(run.edits.map(({ weights, ...rest }) => rest)),
    losses: Float64Array.from(
      Object.values(run.evaluate(run.weightsNow)).flatMap(Object.values),
    ),
  };
  run.dispose();
  return out;
}

/** Many seeds, each in pieces; and the memory after the first and after all of them. */
function seeds(c) {
  const { epochs } = c.config.training;
  const bytes = [];
  const results = c.seeds.map((seed) => {
    const run = new SeedRun(kernel, c.config, seed);
    while (!run.over) run.advance(c.piece);
    const { report } = run;
    run.dispose();
    bytes.push(kernel.bytes);
    return seedResult(seed, report, epochs, true);
  });
  const all = (get) => Float64Array.from(results, ({ report }) => get(report));
  return {
    outcomes: JSON.stringify(results.map(({ outcome }) => outcome)),
    loss: all(({ loss }) => loss),
    accuracy: all(({ accuracy }) => accuracy),
    epoch: all(({ epoch }) => epoch),
    above: all(({ above }) => above ?? -1),
    diverged: all(({ diverged }) => diverged ?? -1),
    losses: Float32Array.from(
      results.flatMap(({ report }) => [...report.curves.loss]),
    ),
    points: Int32Array.from(results, ({ report }) => report.curves.loss.length),
    bytes: Float64Array.of(bytes[0], bytes.at(-1)),
  };
}

const KINDS = {
  everything,
  live,
  seeds,
  train,
  plane(c) {
    const { axes, mean, shares } = kernel.plane(c.points, c.dim);
    return {
      axes: Float64Array.from([...axes[0], ...axes[1]]),
      mean,
      shares: Float64Array.from(shares),
    };
  },
  crossed(c) {
    const { positions, sampled, ...others } = kernel.tasks.design(c.task);
    return {
      ...others,
      positions: Int32Array.from(positions),
      sampled: Number(sampled),
    };
  },
  task(c) {
    const { tasks } = kernel;
    const canonical = tasks.canonical(c.task, c.prefixes);
    const k = c.task.positions.length;
    const names = [];
    for (let i = 0; i < canonical.length; i += k)
      names.push(tasks.groupName(c.task, canonical.subarray(i, i + k)));
    return {
      canonical,
      names: JSON.stringify(names),
      exchangeable: tasks.exchangeable(c.task),
      shares: tasks.classShares(c.task) ?? new Float64Array(),
      rest: JSON.stringify([
        tasks.grouping(c.task),
        String(tasks.groupCount(c.task)),
      ]),
    };
  },
  /** The sum that weights keep: numbers, terms, words, and which value each sequence has. */
  sum(c) {
    const model = kernel.model(modelOptions(c.config));
    const sum = model.keptSum(c.weights, c.task, c.threshold, c.rounding);
    model.dispose();
    if (!sum) return { kind: "none" };
    const { group, groupNames } = bySum(sum, {
      ...c.task,
      tokens: c.tokens,
      count: c.count,
    });
    return {
      kind: sum.kind,
      numbers: Float64Array.of(sum.share, sum.corrected, sum.values),
      terms: Int32Array.from(sum.terms.flatMap((one) => [...one])),
      apart: Int32Array.from(sum.apart),
      best: JSON.stringify(sum.best),
      formula: formulaOf(sum),
      labels: group,
      names: JSON.stringify(groupNames),
    };
  },
  /** Sums that nobody measured, in words. */
  told(c) {
    return { formulas: JSON.stringify(c.sums.map(formulaOf)) };
  },
  data(c) {
    const { tokens, targets } = kernel.dataset(
      c.task,
      c.seed,
      c.split,
      c.count,
    );
    return { tokens, targets, order: kernel.shuffle(c.count, c.seed, 3) };
  },
  /** One call that goes wrong, on a kernel, a model or a trainer. */
  wrong(c) {
    if (c.on === "kernel")
      return { done: JSON.stringify(kernel[c.call](...c.args)) };
    const model = kernel.model({ ...c.model });
    if (c.disposed) model.dispose();
    try {
      return { done: JSON.stringify(model[c.call](...c.args)) };
    } finally {
      if (!c.disposed) model.dispose();
    }
  },
  /** Memory after many calls: nothing is left behind. */
  leaks(c) {
    everything(c);
    const before = kernel.bytes;
    for (let i = 0; i < 30; i++) everything(c);
    return { before, after: kernel.bytes };
  },
  async module() {
    const module = await WebAssembly.compile(bytes);
    const { exports } = await WebAssembly.instantiate(module, {});
    let bounded = false;
    try {
      exports.memory.grow(2 ** 14); // a GiB more than there is
    } catch {
      bounded = true;
    }
    const columns = JSON.stringify([CURVES, STEP_CURVES]);
    return {
      imports: WebAssembly.Module.imports(module).length,
      bounded: Number(bounded),
      columns,
    };
  },
  async unsupported() {
    const real = WebAssembly.validate;
    WebAssembly.validate = () => false;
    try {
      await Kernel.load(bytes);
    } finally {
      WebAssembly.validate = real;
    }
    return {};
  },
  async damaged(c) {
    await Kernel.load(bytes.subarray(0, c.length));
    return {};
  },
};

const chunks = [];
let size = 0;
const results = [];
for (const c of cases) {
  let result;
  try {
    result = await KINDS[c.kind](c);
  } catch (error) {
    if (error.name !== "ReadableError") throw error;
    result = { error: error.message };
  }
  for (const [name, value] of Object.entries(result)) {
    if (!ArrayBuffer.isView(value)) continue;
    const type = Object.keys(TYPES).find((key) => value instanceof TYPES[key]);
    result[name] = { $: [size, value.length, type] };
    chunks.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
    size += value.byteLength;
  }
  results.push(result);
}
writeFileSync(`${folder}/results.bin`, Buffer.concat(chunks));
writeFileSync(`${folder}/results.json`, JSON.stringify(results));

// A run in a browser's worker, from a seed: says with which weights it ends.

import { Kernel, modelOptions } from "./kernel.js";

// What a promise is rejected with, a page does not hear of: it is thrown again.
onmessage = ({ data }) =>
  train(data).then(postMessage, (error) =>
    setTimeout(() => {
      throw error;
    }),
  );

async function train({ config, task, seed, epochs }) {
  const kernel = await Kernel.load(
    await (await fetch("/kernel.wasm")).arrayBuffer(),
  );
  const model = kernel.model(modelOptions(config));
  const trainer = model.trainer({
    training: config.training,
    seed,
    train: kernel.dataset(task, seed, "train", config.task.train_size),
    test: kernel.dataset(task, seed, "test", config.task.test_size),
    start: model.initialize(seed),
  });
  trainer.advance(epochs);
  return [...new Uint8Array(trainer.parameters().buffer)];
}

// The worker that looks for the sum that a circuit keeps.

import type { Model } from "../model/kernel";
import type { RunDetails } from "../model/server/answers";
import type { SumNow, ToMeasureWorker } from "./protocol";
import { fetchKernel, modelOf } from "./run-kernel";

let model: Promise<Model> | null = null;

self.onmessage = ({ data }: MessageEvent<ToMeasureWorker>): void => {
  model ??= made(data.run);
  model.then((known) => found(known, data)).then(post, () => post(null)); // not finite
};

async function made(run: RunDetails): Promise<Model> {
  return modelOf(await fetchKernel(), run);
}

function found(known: Model, { run, task, epoch, weights }: ToMeasureWorker): SumNow {
  const { sum_share, rounding } = run.thresholds;
  return { epoch, sum: known.keptSum(weights, task, sum_share, rounding) };
}

function post(sum: SumNow | null): void {
  self.postMessage(sum);
}

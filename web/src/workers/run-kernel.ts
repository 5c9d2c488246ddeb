// The kernel and the model of a run in it. Each worker has its own.

import { Kernel, modelOptions, type Model } from "../model/kernel";
import type { RunDetails } from "../model/server/answers";
import { workerApi } from "./worker-api";

export async function fetchKernel(): Promise<Kernel> {
  return Kernel.load(await workerApi.kernel());
}

export function modelOf(kernel: Kernel, run: RunDetails): Model {
  return kernel.model({ ...modelOptions(run.config), embeddings: run.embeddings });
}

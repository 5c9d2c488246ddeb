// The kernel and the model of a run in it. Each worker has its own.

import { ReadableError } from "../model/errors";
import { Kernel, modelOptions, type Model } from "../model/kernel";
import type { RunDetails } from "../model/server/answers";
import { workerApi } from "./worker-api";

export async function fetchKernel(): Promise<Kernel> {
  return Kernel.load(await workerApi.kernel());
}

export function modelOf(kernel: Kernel, run: RunDetails): Model {
  const model = kernel.model({ ...modelOptions(run.config), embeddings: run.embeddings });
  if (model.size === run.size) return model;
  throw new ReadableError("The run cannot be shown: its weights are not those of its config.");
}

// The kernel, fetched from the server, and the model of a run in it. Each worker has its own.

import { ReadableError } from "../model/errors";
import { Kernel, modelOptions, type Model } from "../model/kernel";
import type { RunDetails } from "../model/server/answers";
import { NO_ANSWER } from "../model/server/api";

export async function fetchKernel(): Promise<Kernel> {
  const answer = await fetch("/kernel.wasm").catch(() => null);
  if (!answer) throw new ReadableError(NO_ANSWER);
  if (!answer.ok) throw new ReadableError("kernel.wasm: it is not there; run scripts/build-web.");
  return Kernel.load(await answer.arrayBuffer());
}

export function modelOf(kernel: Kernel, run: RunDetails): Model {
  return kernel.model({ ...modelOptions(run.config), embeddings: run.embeddings });
}

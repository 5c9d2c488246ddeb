// The kernel for one run: scenes, and the circuit at an epoch.

import type { RunDetails } from "./model/answers";
import { ReadableError } from "./model/errors";
import { Kernel, modelOptions, type Crossed, type Measure, type Model } from "./model/kernel";
import { taskOf } from "./model/run";
import { sceneKernel } from "./model/scene-kernel";
import type { SceneKernel } from "./model/scene";
import type { Numbers } from "./model/types";
import type { CircuitNow } from "./protocol";

// As in Python's analysis/thresholds.py.
const CLEAR_GAP = 3;
const ROUNDING = 1e-28;

const ASKED: readonly Measure[] = [
  "embedding",
  "logits",
  "accuracy",
  "permutation_survival",
  "suffix_survival",
  "attention",
  "clusters",
];

export class RunKernel {
  readonly scenes: SceneKernel;
  private readonly crossed: Crossed;
  private readonly model: Model;

  private constructor(
    kernel: Kernel,
    private readonly run: RunDetails,
  ) {
    this.model = kernel.model({ ...modelOptions(run.config), embeddings: run.embeddings });
    this.crossed = kernel.crossed(taskOf(run));
    this.scenes = sceneKernel(kernel, this.model);
  }

  static async fetch(): Promise<ArrayBuffer> {
    const answer = await fetch("/kernel.wasm").catch(() => null);
    if (!answer)
      throw new ReadableError("The server does not answer; is `dynascope show` still running?");
    if (!answer.ok) throw new ReadableError("kernel.wasm: it is not there; run scripts/build-web.");
    return answer.arrayBuffer();
  }

  static async make(bytes: ArrayBuffer, run: RunDetails): Promise<RunKernel> {
    return new RunKernel(await Kernel.load(bytes), run);
  }

  circuit(epoch: number, weights: Numbers): CircuitNow {
    const found = this.model.circuit(weights, this.crossed, ASKED);
    const value = (name: Measure, i = 0): number => found[name]?.data[i] ?? NaN;
    const parts = [0, 1, 2].map((i) => value("embedding", i));
    const variance = parts[0]! + parts[1]! + parts[2]!;
    const varies = variance > ROUNDING * (value("embedding", 3) + Math.abs(variance));
    const share = (i: number): number | null => (varies ? parts[i]! / variance : null);
    return {
      epoch,
      accuracy: value("accuracy"),
      between: share(0),
      permutation: share(1),
      suffix: share(2),
      relevantAttention: this.run.positions.reduce((sum, t) => sum + value("attention", t), 0),
      clusters: value("clusters", 1) >= CLEAR_GAP ? value("clusters", 0) : null,
      expectedClusters: Math.min(this.crossed.groups.length - 1, value("clusters", 3)),
      permutationSurvival: value("permutation_survival"),
      suffixSurvival: value("suffix_survival"),
      exhaustive: !this.crossed.sampled,
    };
  }
}

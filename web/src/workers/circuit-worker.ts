// The worker that measures circuits. Over all sequences that may take a second: scenes do not wait
// for it.

import type { Crossed, Kernel, Measure, Model } from "../model/kernel";
import type { RunDetails } from "../model/server/answers";
import type { KernelTask, Numbers } from "../model/types";
import type { CircuitNow, ToMeasureWorker } from "./protocol";
import { fetchKernel, modelOf } from "./run-kernel";

const ASKED: readonly Measure[] = [
  "embedding",
  "logits",
  "accuracy",
  "permutation_survival",
  "suffix_survival",
  "attention",
  "clusters",
];

class Meter {
  private constructor(
    private readonly kernel: Kernel,
    private readonly model: Model,
    private readonly crossed: Crossed,
    private readonly run: RunDetails,
  ) {}

  static async of(run: RunDetails, task: KernelTask): Promise<Meter> {
    const kernel = await fetchKernel();
    return new Meter(kernel, modelOf(kernel, run), kernel.tasks.design(task), run);
  }

  measure(epoch: number, weights: Numbers): CircuitNow {
    const { rounding, clear_gap } = this.run.thresholds;
    const found = this.model.circuit(weights, this.crossed, ASKED);
    const groups = this.crossed.groups.length - 1;
    const value = (name: Measure, i = 0): number => found[name]?.data[i] ?? NaN;
    const shares = this.kernel.varianceShares(found.embedding!.data, rounding);
    return {
      epoch,
      accuracy: value("accuracy"),
      between: shares?.between ?? null,
      permutation: shares?.permutation ?? null,
      suffix: shares?.suffix ?? null,
      relevantAttention: this.crossed.positions.reduce((sum, t) => sum + value("attention", t), 0),
      clusters: value("clusters", 1) >= clear_gap ? value("clusters", 0) : null,
      expectedClusters: Math.min(groups, value("clusters", 3)),
      allClustered: value("clusters", 3) >= groups,
      permutationSurvival: value("permutation_survival"),
      suffixSurvival: value("suffix_survival"),
      exhaustive: !this.crossed.sampled,
    };
  }
}

let meter: Promise<Meter> | null = null;

self.onmessage = ({ data: { run, task, epoch, weights } }: MessageEvent<ToMeasureWorker>): void => {
  meter ??= Meter.of(run, task);
  meter.then((made) => made.measure(epoch, weights)).then(post, () => post(null)); // not finite
};

function post(circuit: CircuitNow | null): void {
  self.postMessage(circuit);
}

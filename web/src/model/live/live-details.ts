// What the page knows of a run that is trained in it, as the server tells it of others.

import type { ParameterSlice } from "../kernel/model";
import { CURVES } from "../kernel/names";
import type { RunDetails } from "../server/answers";
import { THRESHOLDS } from "../thresholds";
import type { Config, Numbers } from "../types";
import { taskOfConfig } from "./live-run";
import type { RunEdit } from "./run-edits";

/** What does not change while it grows. */
export interface LiveFacts {
  id: string; // the page's own: that of its file is found by Python
  seed: number;
  config: Config;
  start: Numbers | null; // the first weights, if they are not those of the seed
  parameters: readonly ParameterSlice[];
  edits: readonly RunEdit[];
}

/** Of a run that has reached an epoch. */
export function liveDetails(facts: LiveFacts, epoch: number, diverged: number | null): RunDetails {
  const { id, seed, config, parameters } = facts;
  const { train_size, test_size, vocab } = config.task;
  return {
    id,
    seed,
    config,
    task: taskOfConfig(config),
    embeddings: config.model.embeddings ?? vocab,
    shapes: Object.fromEntries(parameters.map(({ name, shape }) => [name, [...shape]])),
    size: parameters.reduce((size, each) => size + each.size, 0),
    weightEpochs: Int32Array.from({ length: epoch + 1 }, (_, i) => i),
    stateEpochs: new Int32Array(0),
    notReplayable: null,
    epochs: epoch,
    diverged,
    lastSoundEpoch: diverged === null ? epoch : diverged - 1,
    curveNames: curvesOf(facts),
    sets: { train: train_size, test: test_size },
    tags: [],
    note: "",
    origin: null,
    edits: facts.edits,
    summary: {},
    found: {},
    thresholds: THRESHOLDS,
    notes: [],
  };
}

/** The curves that a run like this has values for. */
function curvesOf({ config, parameters }: LiveFacts): string[] {
  const { gradients, full_gradients, unseen } = config.record;
  const has = (name: string): boolean => {
    const [kind, parameter] = name.split("/");
    if (parameter && !parameters.some((each) => each.name === parameter)) return false;
    if (kind === "full_grad_norm") return full_gradients;
    if (kind?.startsWith("grad_norm")) return gradients;
    return unseen || !name.startsWith("unseen_");
  };
  return CURVES.filter(has);
}

/** Rows of curves [epochs, CURVES] as the columns that have a name. */
export function namedCurves(
  rows: { column(at: number): Numbers },
  names: readonly string[],
): Record<string, Numbers> {
  return Object.fromEntries(names.map((name) => [name, rows.column(CURVES.indexOf(name))]));
}

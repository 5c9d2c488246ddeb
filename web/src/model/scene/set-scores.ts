// How good weights are on the sets of a run.

import type { Model } from "../kernel";
import type { Examples, Numbers } from "../types";
import { forwardWith, type Intervention } from "./scene-kernel";

export type SetExamples = Record<"train" | "test", Examples | null>;

interface Score {
  loss: number;
  accuracy: number | null;
}

/** Mean loss and accuracy on each set; with parts switched off the loss alone. */
export function scoresOf(
  model: Pick<Model, "evaluate" | "gradient" | "forward">,
  weights: Numbers,
  sets: SetExamples,
  intervention: Intervention,
): Record<"train" | "test", Score | null> {
  const { ablate, patch } = intervention;
  const whole = !ablate.positions?.length && !ablate.hidden?.length && !ablate.attention;
  const on = (set: Examples | null): Score | null => {
    if (!set) return null;
    if (patch) return patchedScore(model, weights, set, intervention);
    if (!whole)
      return {
        loss: model.gradient(weights, set.tokens, set.targets, ablate).loss,
        accuracy: null,
      };
    const { loss, accuracy } = model.evaluate(weights, set.tokens, set.targets);
    return { loss: loss[0]!, accuracy: accuracy[0]! };
  };
  return { train: on(sets.train), test: on(sets.test) };
}

/** The mean of log sum exp(logits) - logit of the target, from the kernel's logits. */
function patchedScore(
  model: Pick<Model, "forward">,
  weights: Numbers,
  { tokens, targets }: Examples,
  intervention: Intervention,
): Score {
  const { data, shape } = forwardWith(model, weights, tokens, ["logits"], intervention).logits;
  const classes = shape[1]!;
  let [loss, right] = [0, 0];
  for (let i = 0; i < targets.length; i++) {
    const row = data.subarray(i * classes, (i + 1) * classes);
    let [most, best] = [-Infinity, 0];
    for (let c = 0; c < classes; c++) if (row[c]! > most) [most, best] = [row[c]!, c];
    let sum = 0;
    for (let c = 0; c < classes; c++) sum += Math.exp(row[c]! - most);
    loss += most + Math.log(sum) - row[targets[i]!]!;
    if (best === targets[i]) right++;
  }
  return { loss: loss / targets.length, accuracy: right / targets.length };
}

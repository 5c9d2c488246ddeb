// The panels of curves: which curves each one shows.

import { PARAMETERS } from "../model/kernel/names";
import { PARAMETER_SYMBOLS } from "../model/symbols";
import type { CurvesSpec, CurveLine } from "./curves";
import type { Frame } from "./painter";

export const SETS = ["train", "test", "unseen"] as const;

function sets(frame: Frame, what: "loss" | "accuracy"): CurveLine[] {
  const { curves } = frame.slot;
  const colours = frame.palette.colours.curves;
  return SETS.flatMap((set) => {
    const values = curves[`${set}_${what}`];
    return values ? [{ name: set, colour: colours[set], values }] : [];
  });
}

function gradients(frame: Frame): CurveLine[] {
  const { curves } = frame.slot;
  const colours = frame.palette.colours.parameters;
  return PARAMETERS.flatMap((name) => {
    const values = curves[`grad_norm/${name}`];
    return values
      ? [
          {
            name: PARAMETER_SYMBOLS[name],
            colour: colours[name],
            dashed: name.endsWith("_bias"), // in the colour of the weights they go with
            values,
          },
        ]
      : [];
  });
}

function shares(frame: Frame): CurveLine[] {
  const found = frame.slot.analysis.value?.shares;
  if (!found) return [];
  const colours = frame.palette.colours.shares;
  const names = {
    between: "multiset",
    permutation: "ordering",
    suffix: "irrelevant tokens",
  } as const;
  return (["between", "permutation", "suffix"] as const).map((key) => ({
    name: names[key],
    colour: colours[key],
    values: found[key],
    epochs: found.epochs,
  }));
}

export const CURVE_PANELS = {
  loss: { name: "loss", log: true, overlaid: true, lines: (frame) => sets(frame, "loss") },
  accuracy: {
    name: "accuracy",
    log: false,
    overlaid: true,
    range: [0, 1.02],
    lines: (frame) => sets(frame, "accuracy"),
  },
  gradients: { name: "gradients", log: true, lines: gradients },
  shares: { name: "shares", log: false, range: [0, 1.02], lines: shares },
} satisfies Record<string, CurvesSpec>;

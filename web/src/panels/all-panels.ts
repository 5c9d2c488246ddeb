// Every panel by name: its title, its formula, and a painter of its own.

import { axesTerm, EXPLANATIONS, panelTerm } from "../model/glossary";
import { hasOwnData } from "../model/own-data";
import {
  MAP_PANELS,
  PANELS,
  POINT_PANELS,
  UNITS_OVER,
  type Panel,
  type PointPanel,
  type Task,
} from "../model/types";
import { isOffered } from "../state/all-runs";
import type { Slot } from "../state/page-state";
import { Attention } from "./attention";
import { CURVE_PANELS } from "./curve-panels";
import { Curves } from "./curves";
import { Spectrum } from "./hessian-spectrum";
import type { Painter } from "./painter";
import { pointPanels } from "./point-panels";
import { Probabilities } from "./probabilities";
import { Scatter } from "./scatter";

export interface PanelTitle {
  title: string;
  formula: string;
}

const FORMULAS: Record<Panel, string> = {
  tokens: "E(x)",
  positions: "P(t)",
  embeddings: "E(x) + P(t)",
  normalized: "z(x, t), q",
  attention: "a",
  values: "V z(x, t)",
  sequence: "ξ",
  decision_map: "ξ → p(y|x)",
  sequence_normalized: "ξ̂",
  receptors: "wᵢ",
  assemblers: "uᵢ",
  neurons: "wᵢ, uᵢ over ξ̂",
  feed_forward: "U σ(W ξ̂)",
  output: "ψ",
  output_map: "ψ → p(y|x)",
  probabilities: "p(y|x)",
  loss: "",
  accuracy: "",
  gradients: "|∇|",
  shares: "of ξ",
  hessian: "λ",
};

export const TITLES = Object.fromEntries(
  PANELS.map((name) => [name, { title: titleOf(name), formula: FORMULAS[name] }]),
) as Record<Panel, PanelTitle>;

function titleOf(panel: Panel): string {
  return EXPLANATIONS.get(panelTerm(panel, false))?.term ?? panel;
}

/** What explains a panel of a run: what it shows, and its axes. */
export function panelTerms(panel: Panel, task: Task, linear = false): string {
  return `${panelTerm(panel, hasOwnData(task))} ${axesTerm(panel, linear)}`;
}

/** Whether a person can choose between a linear and a logarithmic axis. */
export function hasScales(panel: Panel): boolean {
  return panel in CURVE_PANELS && CURVE_PANELS[panel as keyof typeof CURVE_PANELS].log;
}

/** Whether a panel has a meaning for a task: shares are those of the task's groups. */
export function appliesTo(panel: Panel, { info, analysis, live }: Slot): boolean {
  if (live && (panel === "shares" || panel === "hessian")) return false; // Python makes these
  if (panel === "shares") return !hasOwnData(info.task);
  if (panel === "hessian") return isOffered("curvature") || !!analysis.value?.curvature;
  return true;
}

export function painterOf(panel: Panel): Painter {
  switch (panel) {
    case "attention":
      return new Attention();
    case "probabilities":
      return new Probabilities();
    case "hessian":
      return new Spectrum();
    case "loss":
    case "accuracy":
    case "gradients":
    case "shares":
      return new Curves(CURVE_PANELS[panel]);
    default:
      return new Scatter(pointPanels()[panel]);
  }
}

/** The panel whose plane this one shows; null for one without a plane. */
export function planePanelOf(panel: Panel): PointPanel | null {
  if (panel === "neurons") return UNITS_OVER;
  if (panel in MAP_PANELS) return MAP_PANELS[panel as keyof typeof MAP_PANELS];
  return POINT_PANELS.find((name) => name === panel) ?? null;
}

// Every panel by name: its title, its formula, and a painter of its own.

import { hasOwnData } from "../model/own-data";
import { MAP_PANELS, POINT_PANELS, type Panel, type PointPanel, type Task } from "../model/types";
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
  about: string; // one sentence
}

export const TITLES: Record<Panel, PanelTitle> = {
  tokens: { title: "Token embeddings", formula: "E(x)", about: "One point for each token." },
  positions: {
    title: "Position embeddings",
    formula: "P(t)",
    about: "One point for each position; relevant ones are circles, irrelevant ones squares.",
  },
  embeddings: {
    title: "Embeddings",
    formula: "E(x) + P(t)",
    about: "Each token at each position.",
  },
  normalized: {
    title: "Normalised",
    formula: "z(x, t), q",
    about: "The same, normalised, with the query as an arrow: what points its way gets attention.",
  },
  attention: {
    title: "Attention",
    formula: "a",
    about:
      "A row for each sequence, a column for each position; the line parts relevant positions from the others.",
  },
  values: {
    title: "Value transform",
    formula: "V z(x, t)",
    about: "What each token at each position adds, before attention weighs it.",
  },
  sequence: {
    title: "Sequence embeddings",
    formula: "ξ",
    about:
      "One point for each sequence; colours are groups of relevant tokens, markers the classes.",
  },
  decision_map: {
    title: "Decision map",
    formula: "ξ → p(y|x)",
    about: "What the rest of the model predicts for each place of the sequence embedding.",
  },
  sequence_normalized: {
    title: "Normalised sequences",
    formula: "ξ̂",
    about: "Sequence embeddings as the feed-forward sees them.",
  },
  receptors: {
    title: "Receptors",
    formula: "wᵢ",
    about: "The direction to which each hidden unit answers.",
  },
  assemblers: {
    title: "Assemblers",
    formula: "uᵢ",
    about: "What each hidden unit adds to the output, in the colour of its receptor.",
  },
  feed_forward: {
    title: "Feed-forward",
    formula: "U σ(W ξ̂)",
    about: "What the feed-forward adds for each sequence.",
  },
  output: { title: "Output", formula: "ψ", about: "Sequence embedding and feed-forward together." },
  output_map: {
    title: "Output map",
    formula: "ψ → p(y|x)",
    about: "What each place of the output is decoded to.",
  },
  probabilities: {
    title: "Probabilities",
    formula: "p(y|x)",
    about: "The probability of each class for each sequence.",
  },
  loss: { title: "Loss", formula: "", about: "Cross-entropy over the epochs." },
  accuracy: {
    title: "Accuracy",
    formula: "",
    about: "The share of sequences that are classified right, over the epochs.",
  },
  gradients: {
    title: "Gradient norms",
    formula: "|∇|",
    about: "The mean gradient norm of each parameter in each epoch.",
  },
  shares: {
    title: "Variance shares",
    formula: "of ξ",
    about:
      "How much of the variance of the sequence embeddings lies between groups of relevant tokens, within them, and comes of the irrelevant tokens.",
  },
  hessian: {
    title: "Hessian spectrum",
    formula: "λ",
    about: "The eigenvalues of the loss's second derivative.",
  },
};

/** What panels say of data of a user's own, where it is something else. */
const ABOUT_OWN: Partial<Record<Panel, string>> = {
  positions: "One point for each position, all diamonds: nobody has said which are relevant.",
  attention: "A row for each sequence, a column for each position.",
  sequence: "One point for each sequence; colours and markers are the classes of their targets.",
};

export function aboutPanel(panel: Panel, task: Task): string {
  return (hasOwnData(task) && ABOUT_OWN[panel]) || TITLES[panel].about;
}

/** Whether a panel has a meaning for a task: shares are those of the task's groups. */
export function appliesTo(panel: Panel, task: Task): boolean {
  return panel !== "shares" || !hasOwnData(task);
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
  if (panel in MAP_PANELS) return MAP_PANELS[panel as keyof typeof MAP_PANELS];
  return POINT_PANELS.find((name) => name === panel) ?? null;
}

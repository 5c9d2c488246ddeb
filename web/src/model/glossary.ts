// What words mean: the entries of the glossary, which the command line and the docs share, and the
// options of the kernel's table, which explain themselves.

import table from "../../../src/dynascope/glossary.json";
import { OPTIONS, type Option } from "./kernel/names";
import type { Panel } from "./types";

export interface Explanation {
  id: string;
  term: string;
  text: string; // one or two sentences
  docs: string; // a page and a heading of it: "analysis.md#spikes"
}

const OPTION = "option."; // before an option's name, in ids

/** Where the options of a section are explained. */
const SECTIONS: Readonly<Record<string, string>> = {
  task: "model.md#the-task-sparse-modular-addition",
  model: "model.md#the-model-one-block-one-query",
  training: "model.md#training",
  record: "train.md#what-is-recorded",
  precision: "reproducibility.md#what-is-the-same",
};

const ENTRIES = table.flatMap(({ terms }) => terms);

export const EXPLANATIONS: ReadonlyMap<string, Explanation> = new Map(
  [...ENTRIES, ...OPTIONS.map(ofOption)].map((entry) => [entry.id, entry]),
);

/** Ids by the column of the table of runs that they explain. */
const COLUMNS: ReadonlyMap<string, string> = new Map([
  ...OPTIONS.map(({ name }): [string, string] => [columnOf(name), OPTION + name]),
  ...ENTRIES.flatMap(({ id, columns = [] }) => columns.map((name): [string, string] => [name, id])),
]);

function ofOption({ name, meaning }: Option): Explanation {
  const [section = ""] = name.split(".");
  const text = `The option ${name}: ${meaning}.`;
  return { id: OPTION + name, term: name, text, docs: SECTIONS[section] ?? "train.md" };
}

/** As the store names columns: options by their last name, but for that of the task. */
function columnOf(option: string): string {
  return option === "task.name" ? "task" : option.slice(option.lastIndexOf(".") + 1);
}

/** The explanations of these ids (parted by spaces); unknown ones are left out. */
export function explanationsOf(ids: string): Explanation[] {
  return ids.split(" ").flatMap((id) => EXPLANATIONS.get(id) ?? []);
}

/** The id that explains a column; "": none does. */
export const columnTerm = (column: string): string => COLUMNS.get(column) ?? "";

/** The id of an option by its whole name. */
export const optionTerm = (name: string): string => OPTION + name;

/** What a spike came from: several causes are joined by "+"; in ids, words are by "-". */
export const causeTerms = (verdict: string): string =>
  verdict
    .split("+")
    .map((cause) => `cause.${cause.replaceAll(" ", "-")}`)
    .join(" ");

/** What a kind of kept sum is. */
export const sumTerm = (kind: string): string => `sum.${kind}`;

/** Where the sandbox serves a page of the docs, and the heading on it. */
export function docsAddress(docs: string): string {
  const [page = "", heading] = docs.split("#");
  return `docs/${page.replace(/\.md$/, ".html")}${heading ? `#${heading}` : ""}`;
}

const PANEL_AXES: Partial<Record<Panel, string>> = {
  attention: "axes.attention",
  probabilities: "axes.probabilities",
  loss: "axes.logarithmic",
  gradients: "axes.logarithmic",
  accuracy: "axes.share",
  shares: "axes.share",
  hessian: "axes.eigenvalues",
};

/** What a panel shows; of data of a user's own it may be something else. */
export function panelTerm(panel: Panel, own: boolean): string {
  const id = `panel.${panel}.own`;
  return own && EXPLANATIONS.has(id) ? id : `panel.${panel}`;
}

/** What a panel's axes are. */
export function axesTerm(panel: Panel, linear = false): string {
  const term = PANEL_AXES[panel] ?? "axes.coordinates";
  return linear && term === "axes.logarithmic" ? "axes.linear" : term;
}

/** What the card under the pointer tells, by its names there. */
export const FACT_TERMS: Readonly<Record<string, string>> = {
  token: "token",
  position: "position",
  relevant: "relevant",
  "mean attention": "attention-mean",
  "token at position": "token position",
  E: "E",
  P: "P",
  "E + P": "E+P",
  "|E + P|": "E+P",
  "V z": "Vz",
  sequence: "sequence",
  multiset: "multiset",
  sum: "sum",
  "target / prediction": "target prediction",
  "probability of the target": "probability",
  margin: "margin",
  ξ: "xi",
  "|ξ|": "xi",
  "hidden unit": "unit",
  receptor: "receptor",
  assembler: "assembler",
  "above 0 for": "active",
  highest: "highest",
};

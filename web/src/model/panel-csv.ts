// The data of a panel as CSV (RFC 4180): a header, then a row for each thing that is drawn. Numbers
// are written so that reading gives back the same ones.

import { NO_TARGET } from "./own-data";
import { sequenceName } from "./sequences";
import type { Numbers, Panel, PointPanel, Scene, ScenePlan, Sequences } from "./types";
import { MAP_PANELS, UNIT_ENDS } from "./types";

type Value = string | number;

const CURVE_PANELS = ["loss", "accuracy", "gradients", "shares"] as const satisfies Panel[];

export interface PanelData {
  scene: Scene;
  plan: ScenePlan;
  sequences: Sequences;
  curves: Readonly<Record<string, Numbers>>;
}

/** Whether a panel shows curves over the whole run, or one epoch of it. */
export function panelSpan(panel: Panel): "run" | "epoch" {
  return (CURVE_PANELS as readonly Panel[]).includes(panel) ? "run" : "epoch";
}

/** `epoch` is that of what is drawn; data of many epochs are not called after one. */
export function fileName(
  id: string,
  panel: Panel,
  format: "svg" | "png" | "csv",
  epoch: number,
): string {
  const all = format === "csv" && (panelSpan(panel) === "run" || panel === "hessian");
  return runFileName(id, all ? null : epoch, panel, format);
}

/** The name of a file about a run; without an epoch, about all of them. */
export function runFileName(
  id: string,
  epoch: number | null,
  what: string,
  ending: string,
): string {
  return `${id.slice(0, 8)}${epoch === null ? "" : `-epoch${epoch}`}-${what}.${ending}`;
}

/** The CSV of a panel, or null for one whose data are not here (the Hessian's spectrum). */
export function panelCsv(panel: Panel, what: PanelData): string | null {
  switch (panel) {
    case "attention":
      return csv(["sequence", "position", "token", "attention"], attentionRows(what));
    case "probabilities":
      return csv(["sequence", "target", "class", "probability"], probabilityRows(what));
    case "decision_map":
    case "output_map":
      return csv(["x", "y", "class", "logit"], mapRows(panel, what));
    case "neurons":
      return csv(["unit", "end", "x", "y"], unitRows(what));
    case "loss":
      return curvesCsv(what.curves, (name) => name.endsWith("_loss"));
    case "accuracy":
      return curvesCsv(what.curves, (name) => name.endsWith("_accuracy"));
    case "gradients":
      return curvesCsv(what.curves, (name) => name.startsWith("grad_norm"));
    case "shares":
    case "hessian":
      return null;
    default:
      return csv([...headingsOf(panel, what), "x", "y"], pointRows(panel, what));
  }
}

/** Curves side by side, a row for each epoch. */
export function curvesCsv(
  curves: Readonly<Record<string, ArrayLike<number>>>,
  wanted: (name: string) => boolean = () => true,
): string {
  const names = Object.keys(curves).filter(wanted);
  const epochs = Math.max(0, ...names.map((name) => curves[name]!.length));
  const rows = Array.from({ length: epochs }, (_, e) => [
    e,
    ...names.map((name) => curves[name]![e] ?? NaN),
  ]);
  return csv(["epoch", ...names], rows);
}

export function csv(header: readonly string[], rows: Iterable<readonly Value[]>): string {
  const lines = [header.map(cell).join(",")];
  for (const row of rows) lines.push(row.map(cell).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

/** Text is quoted where it must be. A spreadsheet would run what begins like a formula: such text
 * gets an apostrophe before it. */
function cell(value: Value): string {
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const SEQUENCE = ["sequence", "target"] as const;
const PAIR = ["token", "position"] as const;
const KEYS: Record<PointPanel, readonly string[]> = {
  tokens: ["token"],
  positions: ["position", "relevant"],
  embeddings: PAIR,
  normalized: PAIR,
  values: PAIR,
  sequence: SEQUENCE,
  sequence_normalized: SEQUENCE,
  receptors: ["unit"],
  assemblers: ["unit"],
  feed_forward: SEQUENCE,
  output: SEQUENCE,
};

/** Where nobody knows which positions are relevant, there is no such column. */
function headingsOf(panel: PointPanel, { sequences }: PanelData): readonly string[] {
  return KEYS[panel].filter((name) => name !== "relevant" || sequences.positions !== null);
}

/** What the columns before x and y say of a point. */
function keysOf(panel: PointPanel, index: number, { plan, sequences }: PanelData): Value[] {
  if (panel === "tokens") return [plan.tokens[index]!];
  if (panel === "receptors" || panel === "assemblers") return [plan.units[index]!];
  if (panel === "positions") {
    const position = plan.positions[index]!;
    const relevant = sequences.positions?.includes(position);
    return relevant === undefined ? [position] : [position, relevant ? 1 : 0];
  }
  if (KEYS[panel] === SEQUENCE) return [sequenceName(sequences, index), targetOf(sequences, index)];
  const [row, column] = [Math.floor(index / plan.positions.length), index % plan.positions.length];
  return [plan.pairTokens[row]!, plan.positions[column]!];
}

const targetOf = ({ targets }: Sequences, index: number): Value =>
  targets[index] === NO_TARGET ? "" : targets[index]!;

function* pointRows(panel: PointPanel, what: PanelData): Generator<Value[]> {
  const { x, y, count } = what.scene.points[panel];
  for (let i = 0; i < count; i++) yield [...keysOf(panel, i, what), x[i]!, y[i]!];
  if (panel === "normalized") yield ["query", "", what.scene.query.x[0]!, what.scene.query.y[0]!];
}

function* unitRows({ scene, plan }: PanelData): Generator<Value[]> {
  for (const end of UNIT_ENDS) {
    const { x, y, count } = scene.neurons[end];
    for (let i = 0; i < count; i++) yield [plan.units[i]!, end.replace(/s$/, ""), x[i]!, y[i]!];
  }
}

function* attentionRows({ scene, sequences }: PanelData): Generator<Value[]> {
  const { count, length, tokens } = sequences;
  for (let i = 0; i < count; i++)
    for (let t = 0; t < length; t++)
      yield [
        sequenceName(sequences, i),
        t,
        tokens[i * length + t]!,
        scene.attention[i * length + t]!,
      ];
}

function* probabilityRows({ scene, plan, sequences }: PanelData): Generator<Value[]> {
  for (let i = 0; i < sequences.count; i++)
    for (let c = 0; c < plan.classes; c++)
      yield [
        sequenceName(sequences, i),
        targetOf(sequences, i),
        c,
        scene.probabilities[i * plan.classes + c]!,
      ];
}

function* mapRows(panel: keyof typeof MAP_PANELS, { scene }: PanelData): Generator<Value[]> {
  const { logits, width, height, classes, extent } = scene.maps[panel];
  for (let row = 0; row < height; row++)
    for (let column = 0; column < width; column++) {
      const x = extent.x0 + ((column + 0.5) * (extent.x1 - extent.x0)) / width;
      const y = extent.y0 + ((row + 0.5) * (extent.y1 - extent.y0)) / height;
      for (let c = 0; c < classes; c++)
        yield [x, y, c, logits[(row * width + column) * classes + c]!];
    }
}

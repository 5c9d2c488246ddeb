// The panels of points: what each one shows, in which colours, with which names.

import type { PointStyle } from "../model/palette";
import {
  UNITS_OVER,
  type FramedPanel,
  type Kind,
  type MapPanel,
  type PointPanel,
  type ScenePlan,
} from "../model/types";
import type { Frame } from "./painter";
import type { ScatterSpec } from "./scatter";

type Styles = readonly PointStyle[];

/** Styles depend on the theme and the run alone: made once for each. */
function once(make: (frame: Frame) => Styles): (frame: Frame) => Styles {
  let made: Styles = [];
  let palette: unknown = null;
  let about: unknown = null;
  return (frame) => {
    const sequences = frame.slot.grouped.value;
    if (palette !== frame.palette || about !== sequences)
      [made, palette, about] = [make(frame), frame.palette, sequences];
    return made;
  };
}

const tokens = ({ palette, slot }: Frame): Styles =>
  Array.from(slot.plan.value.tokens, (token) => palette.token(token));

const positions = ({ palette, slot }: Frame): Styles => {
  const all = palette.positions(slot.plan.value.length, slot.info.task.positions);
  return Array.from(slot.plan.value.positions, (t) => all[t]!);
};

const pairs = (frame: Frame): Styles => {
  const each = positions(frame);
  return Array.from(frame.slot.plan.value.pairTokens, (token) =>
    each.map((style) => frame.palette.pair(token, style)),
  ).flat();
};

const sequences = ({ palette, slot }: Frame): Styles => palette.sequences(slot.grouped.value);

const receptors = ({ palette, slot }: Frame): Styles =>
  Array.from(slot.plan.value.units, (unit) => palette.receptor(unit));

const assemblers = ({ palette, slot }: Frame): Styles =>
  Array.from(slot.plan.value.units, (unit) => palette.assembler(unit));

const MOST_LABELS = 24;

const numbered =
  (shown: (plan: ScenePlan) => Int32Array) =>
  (frame: Frame): string[] | null => {
    const numbers = shown(frame.slot.plan.value);
    return numbers.length > MOST_LABELS && !frame.big ? null : Array.from(numbers, String);
  };

/** "token at position": too many for a small panel, unless something is marked. */
const pairNames = (frame: Frame): string[] | null => {
  if (!frame.big && (frame.mark === null || frame.mark.kind === "unit")) return null;
  const { pairTokens, positions: at } = frame.slot.plan.value;
  return Array.from(pairTokens, (token) => Array.from(at, (t) => `${token} at ${t}`)).flat();
};

const radius = ({ slot }: Frame): number =>
  slot.plan.value.dim > 1 ? (slot.plan.value.radius ?? 0) : 0;

const spec = (
  panel: PointPanel,
  kind: Kind,
  size: number,
  make: (frame: Frame) => Styles,
  more: Partial<ScatterSpec> = {},
): ScatterSpec => ({
  name: panel,
  panel,
  kind,
  radius: size,
  styles: once(make),
  ...more,
});

/** New ones for each painter: what they keep belongs to one run. */
export const pointPanels = (): Record<FramedPanel | MapPanel, ScatterSpec> => ({
  tokens: spec("tokens", "token", 5, tokens, { labels: numbered((plan) => plan.tokens) }),
  positions: spec("positions", "position", 4.3, positions, {
    labels: numbered((plan) => plan.positions),
  }),
  embeddings: spec("embeddings", "pair", 4, pairs, { labels: pairNames }),
  normalized: spec("normalized", "pair", 4, pairs, {
    labels: pairNames,
    circle: radius,
    query: true,
  }),
  values: spec("values", "pair", 4, pairs, { labels: pairNames }),
  sequence: spec("sequence", "sequence", 4, sequences, { groups: true }),
  decision_map: spec("sequence", "sequence", 4, sequences, {
    name: "decision_map",
    map: "decision_map",
  }),
  sequence_normalized: spec("sequence_normalized", "sequence", 4, sequences, { circle: radius }),
  receptors: spec("receptors", "unit", 4, receptors, { spokes: true }),
  assemblers: spec("assemblers", "unit", 4, assemblers, { spokes: true }),
  neurons: spec(UNITS_OVER, "sequence", 2.5, sequences, {
    name: "neurons",
    circle: radius,
    units: true,
  }),
  feed_forward: spec("feed_forward", "sequence", 4, sequences),
  output: spec("output", "sequence", 4, sequences, { groups: true }),
  output_map: spec("output", "sequence", 4, sequences, { name: "output_map", map: "output_map" }),
});

// The colour and the marker of everything that is drawn as a point.
//
// As in the paper: sequences with one prefix share a colour, prefixes that are equal up to a
// permutation have similar ones, the class is the marker; relevant positions are circles,
// irrelevant ones squares; an assembler has the colour of its receptor. Of data of a user's own,
// sequences of one class share a colour, and all positions are diamonds.

import { contrast, hex, lch, lighter, mix, ramp, readable, rgb, type Triple } from "./colour-space";
import { NO_TARGET } from "./own-data";
import { coloursOf, MARKERS, type Colours, type Marker, type ThemeName } from "./theme";
import type { Sequences } from "./types";

export const LEAST_CONTRAST = 3; // WCAG 2.2, 1.4.11: graphical objects
export const TEXT_CONTRAST = 4.5; // 1.4.3: text; on any ground black or white has it

export interface PointStyle {
  fill: string;
  stroke: string; // around it, where points overlap or lie on a map
  marker: Marker;
}

const SPREAD = 0.05; // of lightness, to each side, between the orderings of one multiset
const FADED = 0.8; // of the way to the background, for what is not marked
const COARSE = 8; // levels of red, green and blue that faded colours share: all need stamps of their own
const GOLDEN = 0.6180339887498949; // turns: neighbours in number are far apart in hue

export class Palette {
  readonly colours: Colours;

  constructor(readonly theme: ThemeName) {
    this.colours = coloursOf(theme);
  }

  token(token: number): PointStyle {
    return this.style(this.cycled(token), MARKERS.token);
  }

  /** `rank` counts relevant positions and irrelevant ones apart: each kind has all the colours. */
  position(rank: number, relevant: boolean): PointStyle {
    return this.style(this.cycled(rank), relevant ? MARKERS.relevant : MARKERS.irrelevant);
  }

  /** Styles of all positions 0..length-1; `relevant` is null where nobody knows which are. */
  positions(length: number, relevant: ArrayLike<number> | null): PointStyle[] {
    if (relevant === null)
      return Array.from({ length }, (_, t) => this.style(this.cycled(t), MARKERS.position));
    const summed = new Set(Array.from(relevant));
    const ranks = [0, 0];
    return Array.from({ length }, (_, t) => {
      const kind = summed.has(t) ? 1 : 0;
      return this.position(ranks[kind]!++, kind === 1);
    });
  }

  /** A token at a position: the position's colour and marker, with the token's colour around. */
  pair(token: number, position: PointStyle): PointStyle {
    return { ...position, stroke: this.cycled(token) };
  }

  group(group: number, groups: number): string {
    return this.legible(ramp(this.colours.groups, groups > 1 ? group / (groups - 1) : 0.5));
  }

  /** The colour of a group of sequences; those without a target are the last, and neutral. */
  groupOf({ groupNames, targets, count }: Sequences, group: number): string {
    const told = groupNames.length - (targets[count - 1] === NO_TARGET ? 1 : 0);
    return group < told ? this.group(group, told) : this.legible(this.colours.quiet);
  }

  /** Styles of all sequences. */
  sequences(sequences: Sequences): PointStyle[] {
    const fills = this.prefixes(sequences);
    return Array.from({ length: sequences.count }, (_, i) =>
      this.style(fills[sequences.prefix[i]!]!, this.marker(sequences.targets[i]!)),
    );
  }

  marker(target: number): Marker {
    if (target === NO_TARGET) return MARKERS.untold;
    return MARKERS.classes[target % MARKERS.classes.length]!;
  }

  unit(unit: number): string {
    const { lightness, chroma } = this.colours.units;
    return this.legible(lch(lightness[unit % 2]!, chroma, (unit * GOLDEN) % 1));
  }

  receptor(unit: number): PointStyle {
    return this.style(this.unit(unit), MARKERS.receptor);
  }

  assembler(unit: number): PointStyle {
    return this.style(this.unit(unit), MARKERS.assembler);
  }

  /** The fill of a class on a map. */
  map(target: number): Triple {
    const { map } = this.colours;
    const base = map[target % map.length]!;
    const round = Math.floor(target / map.length) % 4;
    return rgb(round ? lighter(base, (this.theme === "light" ? -0.05 : 0.05) * round) : base);
  }

  /** The same where something else is marked: flat, since what shines through adds up in clusters. */
  faded({ fill, stroke, marker }: PointStyle, ground: string = this.colours.panel): PointStyle {
    return { fill: pale(fill, ground), stroke: pale(stroke, ground), marker };
  }

  /** What lies behind points on a map, on the whole. */
  mapGround(classes: number): string {
    const all = Array.from({ length: classes }, (_, c) => this.map(c));
    return hex([0, 1, 2].map((i) => mean(all.map((each) => each[i]!))) as unknown as Triple);
  }

  /** The ink that can be read on this. */
  inkOn(ground: string): string {
    const { ink, panel } = this.colours;
    const inks = [ink, panel, "#000000", "#ffffff"];
    return inks.find((each) => contrast(each, ground) >= TEXT_CONTRAST) ?? ink;
  }

  private style(fill: string, marker: Marker): PointStyle {
    return { fill, stroke: this.colours.halo, marker };
  }

  /** One colour of each prefix: its multiset's, a little lighter or darker by its ordering. */
  private prefixes(sequences: Sequences): string[] {
    const { prefix, group, groupNames, prefixes } = sequences;
    const groupOf = new Int32Array(prefixes.length);
    for (let i = 0; i < sequences.count; i++) groupOf[prefix[i]!] = group[i]!;
    const sizes = new Int32Array(groupNames.length);
    const places = Array.from(groupOf, (g) => sizes[g]!++);
    return places.map((place, i) => {
      const g = groupOf[i]!;
      const size = sizes[g]!;
      const shift = size > 1 ? SPREAD * ((2 * place) / (size - 1) - 1) : 0;
      return this.legible(lighter(this.groupOf(sequences, g), shift));
    });
  }

  private cycled(index: number): string {
    const { cycle } = this.colours;
    const round = Math.floor(index / cycle.length) % 3;
    const base = cycle[index % cycle.length]!;
    return this.legible(round ? lighter(base, round === 1 ? -0.12 : 0.12) : base);
  }

  private legible(colour: string): string {
    return readable(colour, this.colours.panel, LEAST_CONTRAST);
  }
}

function pale(colour: string, ground: string): string {
  const parts = rgb(mix(colour, ground, FADED));
  return hex(parts.map((part) => COARSE * Math.round(part / COARSE)) as unknown as Triple);
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

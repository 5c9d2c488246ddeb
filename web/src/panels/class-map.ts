// Class probabilities as a smooth picture with the lines where the likeliest class changes.
//
// Between the cells of the grid not probabilities are interpolated but logits: a steep boundary
// stays a sharp and straight one, without seams or steps.

import type { Axes } from "../drawing/axes";
import type { LineStyle, Pen } from "../drawing/pen";
import { blend, newPixels, pack, word, type Pixels } from "../drawing/pixels";
import { zeroLine } from "../drawing/strokes";
import type { Triple } from "../model/colour-space";
import type { ClassMap } from "../model/types";
import type { Frame } from "./painter";

const SURE = 9; // difference of two logits: beyond it a colour is pure
const STEPS = 1023;
const RAMP = 255; // steps of colour from as likely to sure
const LINE = 0.4; // alpha of the lines between classes

export class ClassMapImage {
  private pixels: Pixels = newPixels(0, 0);
  private ahead = new Float32Array(0); // of two classes: by how much the second's logit is larger
  private painted: unknown = null;
  private about = "";
  private colours: Triple[] = []; // of the classes
  private ink = 0;
  private leaders = new Int32Array(0); // more classes: the likeliest one of each pixel of a row
  private leads = new Float32Array(0); // and by how much
  private ramps: Uint32Array[] = []; // of each two of more classes, by `lead`
  private table = new Uint32Array(0); // of two classes: from one colour to the other

  draw(pen: Pen, axes: Axes, map: ClassMap, frame: Frame): void {
    if (!map.width || !map.height) return;
    const { x0, x1, y0, y1 } = map.extent;
    const [left, top] = [axes.x(x0), axes.y(y1)];
    const [width, height] = [axes.x(x1) - left, axes.y(y0) - top];
    this.fit(Math.round(width * frame.ratio), Math.round(height * frame.ratio), map, frame);
    pen.image(this.pixels, left, top, width, height);
    if (map.classes === 2)
      pen.line(border(this.ahead, axes, map), { colour: frame.palette.colours.ink, alpha: LINE });
  }

  /** Paints as many pixels as the screen has there, unless they are as they should be. */
  private fit(width: number, height: number, map: ClassMap, frame: Frame): void {
    const about = `${frame.palette.theme} ${width} ${height} ${map.classes}`;
    if (this.painted === frame.scene && this.about === about) return;
    if (width < 1 || height < 1 || width * height > 2 ** 23) return;
    if (this.pixels.width !== width || this.pixels.height !== height)
      this.pixels = newPixels(width, height);
    if (this.about !== about) {
      this.colours = Array.from({ length: map.classes }, (_, c) => frame.palette.map(c));
      this.ramps = [];
      this.ink = word(frame.palette.colours.ink);
      this.leaders = new Int32Array(width);
      this.leads = new Float32Array(width);
      this.table = shades(this.colours[0]!, this.colours[1] ?? this.colours[0]!);
    }
    [this.painted, this.about] = [frame.scene, about];
    if (map.classes !== 2) return this.paintMany(map);
    this.compare(map);
    this.paintTwo(map);
  }

  private compare({ logits, width, height }: ClassMap): void {
    if (this.ahead.length !== width * height) this.ahead = new Float32Array(width * height);
    lead(this.ahead, logits);
  }

  /** Two classes: one number decides, so a table of colours does. */
  private paintTwo(map: ClassMap): void {
    const { words, width, height } = this.pixels;
    const { ahead, table } = this;
    const [columns, rows] = [places(map.width, width), places(map.height, height)];
    const line = new Float32Array(map.width);
    let at = 0;
    for (let row = height - 1; row >= 0; row--) {
      const [low, high, v] = [
        rows.low[row]! * map.width,
        rows.high[row]! * map.width,
        rows.share[row]!,
      ];
      for (let i = 0; i < map.width; i++)
        line[i] = ahead[low + i]! * (1 - v) + ahead[high + i]! * v;
      for (let column = 0; column < width; column++) {
        const u = columns.share[column]!;
        const value = line[columns.low[column]!]! * (1 - u) + line[columns.high[column]!]! * u;
        const place = (value + SURE) * (STEPS / (2 * SURE));
        words[at++] = table[place < 0 ? 0 : place > STEPS ? STEPS : place | 0]!; // of NaN: the first
      }
    }
  }

  /** More classes: a pixel has the colours of the two likeliest, and of a line where they change.
   * Where all cells around are sure of one class, so is what lies between. */
  private paintMany({ logits, width: w, height: h, classes }: ClassMap): void {
    const { words, width, height } = this.pixels;
    const [columns, rows] = [places(w, width), places(h, height)];
    const line = new Float32Array(classes * w);
    const { leaders, leads, ramps } = this;
    const sure = sureOf(logits, w * h, classes);
    const pure = this.colours.map((colour) => pack(...colour));
    let at = 0;
    for (let row = height - 1; row >= 0; row--) {
      const [low, high] = [rows.low[row]! * w * classes, rows.high[row]! * w * classes];
      const v = rows.share[row]!;
      for (let i = 0; i < line.length; i++)
        line[i] = logits[low + i]! * (1 - v) + logits[high + i]! * v;
      const [under, over] = [rows.low[row]! * w, rows.high[row]! * w];
      for (let column = 0; column < width; column++) {
        const [left, right] = [columns.low[column]!, columns.high[column]!];
        const all = sure[under + left]!;
        if (
          all >= 0 &&
          all === sure[under + right]! &&
          all === sure[over + left]! &&
          all === sure[over + right]!
        ) {
          words[at++] = pure[all]!;
          leaders[column] = all;
          leads[column] = SURE;
          continue;
        }
        const a = classes * left;
        const b = classes * right;
        const u = columns.share[column]!;
        let first = 0;
        let second = 0;
        let most = -Infinity;
        let next = -Infinity;
        for (let c = 0; c < classes; c++) {
          const value = line[a + c]! * (1 - u) + line[b + c]! * u;
          if (value > most) {
            second = first;
            next = most;
            first = c;
            most = value;
          } else if (value > next) {
            second = c;
            next = value;
          }
        }
        const lead = most - next;
        const place = lead < SURE ? (lead * (RAMP / SURE)) | 0 : RAMP;
        const ramp = ramps[first * classes + second] ?? this.lead(first, second);
        words[at] = ramp[place]!;
        if (at >= width && leaders[column] !== first)
          this.part(at - width, at, leads[column]!, lead);
        if (column > 0 && leaders[column - 1] !== first)
          this.part(at - 1, at, leads[column - 1]!, lead);
        leaders[column] = first;
        leads[column] = lead;
        at++;
      }
    }
  }

  /** A line between two pixels: it is the darker in each the nearer it passes to its middle. */
  private part(one: number, other: number, leadOfOne: number, leadOfOther: number): void {
    const { words } = this.pixels;
    const place = leadOfOne / (leadOfOne + leadOfOther);
    if (!(place >= 0 && place <= 1)) return;
    words[one] = blend(words[one]!, this.ink, Math.round(255 * LINE * (1 - place)));
    words[other] = blend(words[other]!, this.ink, Math.round(255 * LINE * place));
  }

  /** Colours by how far one class is ahead of the next likely one, from 0 to SURE; made when needed. */
  private lead(first: number, second: number): Uint32Array {
    const from = this.colours[second]!;
    const to = this.colours[first]!;
    return (this.ramps[first * this.colours.length + second] ??= Uint32Array.from(
      { length: RAMP + 1 },
      (_, i) => mixed(from, to, i < RAMP ? 1 / (1 + Math.exp((-SURE * i) / RAMP)) : 1),
    ));
  }
}

/** Where two classes are as likely, alone: without the picture. */
export function drawBorder(pen: Pen, axes: Axes, map: ClassMap, style: LineStyle): void {
  const ahead = new Float32Array(map.width * map.height);
  lead(ahead, map.logits);
  pen.line(border(ahead, axes, map), style);
}

/** By how much the second class's logit is larger. */
function lead(out: Float32Array, logits: Float32Array): void {
  for (let i = 0; i < out.length; i++) out[i] = logits[2 * i + 1]! - logits[2 * i]!;
}

function border(ahead: Float32Array, axes: Axes, { width, height, extent }: ClassMap): number[] {
  const line = zeroLine(ahead, width, height);
  const scaleX = (extent.x1 - extent.x0) / width;
  const scaleY = (extent.y1 - extent.y0) / height;
  const flat = height === 2; // d = 1: the same at every height
  for (let i = 0; i < line.length; i += 2) {
    if (flat) line[i + 1] = (line[i + 1]! - 0.5) * 2;
    line[i] = axes.x(extent.x0 + line[i]! * scaleX);
    line[i + 1] = axes.y(extent.y0 + line[i + 1]! * scaleY);
  }
  return line;
}

/** For each pixel along one side: the cells before and after its middle, and how far between. */
interface Places {
  low: Int32Array;
  high: Int32Array;
  share: Float32Array;
}

const known = new Map<string, Places>();

function places(cells: number, pixels: number): Places {
  const key = `${cells} ${pixels}`;
  const found = known.get(key);
  if (found) return found;
  const at = Float32Array.from({ length: pixels }, (_, i) =>
    Math.min(cells - 1, Math.max(0, ((i + 0.5) * cells) / pixels - 0.5)),
  );
  const low = Int32Array.from(at, Math.floor);
  const made = {
    low,
    high: low.map((i) => Math.min(cells - 1, i + 1)),
    share: at.map((value, i) => value - low[i]!),
  };
  if (known.size > 200) known.clear();
  known.set(key, made);
  return made;
}

function shades(none: Triple, all: Triple): Uint32Array<ArrayBuffer> {
  return Uint32Array.from({ length: STEPS + 1 }, (_, i) =>
    mixed(none, all, 1 / (1 + Math.exp(SURE * (1 - (2 * i) / STEPS)))),
  );
}

function mixed(from: Triple, to: Triple, share: number): number {
  const part = (k: 0 | 1 | 2): number => from[k] + share * (to[k] - from[k]);
  return pack(part(0), part(1), part(2));
}

/** The class of which each cell is sure, or -1. */
function sureOf(logits: Float32Array, cells: number, classes: number): Int32Array {
  const sure = new Int32Array(cells);
  for (let i = 0, at = 0; i < cells; i++) {
    let first = 0;
    let most = -Infinity;
    let next = -Infinity;
    for (let c = 0; c < classes; c++, at++) {
      const value = logits[at]!;
      if (value > most) {
        next = most;
        most = value;
        first = c;
      } else if (value > next) next = value;
    }
    sure[i] = most - next > SURE ? first : -1;
  }
  return sure;
}

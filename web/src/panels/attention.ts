// Attention: a row for each sequence, a column for each position, the tokens written where they fit.

import { marks, type Mark } from "../link";
import { mix } from "../model/colour";
import type { Pen } from "../pen";
import { activeIn, plot, type Frame, type Painter } from "./painter";

const ROW = 8.4; // pixels: in lower ones the tokens cannot be read
const SHADES = 64;

export class Attention implements Painter {
  private rows: number[] = [];
  private about: unknown = null;
  private shades: string[] = [];
  private shaded = "";

  key(frame: Frame): string {
    this.choose(frame);
    return `${this.rows.length}`;
  }

  back(pen: Pen, frame: Frame): void {
    const box = plot(frame, 10);
    const { length } = frame.slot.sequences.value;
    const width = box.width / length;
    for (let t = 0; t < length; t += Math.ceil(16 / width))
      pen.text(String(t), box.x + (t + 0.5) * width, box.y + box.height + 9, {
        colour: frame.palette.colours.quiet,
        size: 9,
        anchor: "middle",
      });
  }

  front(pen: Pen, frame: Frame): void {
    const { scene, slot } = frame;
    if (!scene) return;
    const { length, tokens } = slot.sequences.value;
    const box = plot(frame, 10);
    const [width, height] = [box.width / length, box.height / this.rows.length];
    const { colours } = frame.palette;
    const shades = this.shadesOf(colours.attention as [string, string]);
    const most = Math.max(
      2 / length,
      ...this.rows.map((row) => highest(scene.attention, row * length, length)),
    );
    const written = width > 8 && height > 7.5;
    this.rows.forEach((row, r) => {
      const faded =
        marks(frame.mark, "sequence", row, slot.sequences.value, activeIn(frame)) === false;
      const [y0, y1] = [Math.round(box.y + r * height), Math.round(box.y + (r + 1) * height)];
      for (let t = 0; t < length; t++) {
        const share = Math.min(1, scene.attention[row * length + t]! / most);
        const [x0, x1] = [Math.round(box.x + t * width), Math.round(box.x + (t + 1) * width)];
        pen.rect(
          x0,
          y0,
          x1 - x0 - (width > 6 ? 1 : 0),
          y1 - y0 - (height > 6 ? 1 : 0),
          shades[Math.round(share * (SHADES - 1))]!,
          faded ? 0.25 : 1,
        );
        if (!written || faded) continue;
        const colour = share > 0.5 ? colours.panel : colours.ink;
        pen.text(String(tokens[row * length + t]), (x0 + x1 - 1) / 2, (y0 + y1) / 2, {
          colour,
          size: Math.min(9, height - 1),
          anchor: "middle",
        });
      }
    });
    this.frame(pen, frame, width, height);
  }

  pick(x: number, y: number, frame: Frame): Mark | null {
    const box = plot(frame, 10);
    const { length } = frame.slot.sequences.value;
    const column = Math.floor(((x - box.x) / box.width) * length);
    const row = this.rows[Math.floor(((y - box.y) / box.height) * this.rows.length)];
    if (column < 0 || column >= length) return null;
    if (y > box.y + box.height) return { slot: frame.slot.index, kind: "position", index: column };
    return row === undefined ? null : { slot: frame.slot.index, kind: "sequence", index: row };
  }

  /** The line around what is marked, and those between relevant positions and the others. */
  private frame(pen: Pen, frame: Frame, width: number, height: number): void {
    const box = plot(frame, 10);
    const { colours } = frame.palette;
    const { sequences } = frame.slot;
    const relevant = new Set(frame.slot.info.positions);
    const bottom = box.y + box.height;
    for (let t = 1; t < sequences.value.length; t++) {
      if (relevant.has(t) === relevant.has(t - 1)) continue;
      const x = Math.round(box.x + t * width) - 0.5;
      pen.line([x, box.y, x, bottom], colours.query, 1.5);
    }
    const { mark } = frame;
    if (!mark) return;
    const place = this.rows.indexOf(mark.index);
    if (mark.kind === "sequence" && place >= 0)
      outline(pen, box.x, box.y + place * height, box.width, height, colours.ink);
    const column =
      mark.kind === "position"
        ? mark.index
        : mark.kind === "pair"
          ? mark.index % sequences.value.length
          : -1;
    if (column >= 0) outline(pen, box.x + column * width, box.y, width, box.height, colours.ink);
  }

  /** So many rows as can be seen, spread over all sequences. */
  private choose(frame: Frame): void {
    const sequences = frame.slot.sequences.value;
    const count = Math.min(sequences.count, Math.max(8, Math.floor(plot(frame).height / ROW)));
    if (this.about === sequences && this.rows.length === count) return;
    this.about = sequences;
    const order = Array.from({ length: sequences.count }, (_, i) => i).sort(
      (a, b) =>
        sequences.group[a]! - sequences.group[b]! ||
        sequences.prefix[a]! - sequences.prefix[b]! ||
        a - b,
    );
    this.rows = Array.from(
      { length: count },
      (_, i) => order[Math.floor(((i + 0.5) * sequences.count) / count)]!,
    );
  }

  private shadesOf([from, to]: [string, string]): string[] {
    if (this.shaded !== from + to) {
      this.shaded = from + to;
      this.shades = Array.from({ length: SHADES }, (_, i) =>
        mix(from, to, (0.9 * i) / (SHADES - 1)),
      );
    }
    return this.shades;
  }
}

function highest(values: Float64Array, from: number, count: number): number {
  let most = 0;
  for (let i = from; i < from + count; i++) if (values[i]! > most) most = values[i]!;
  return most;
}

function outline(
  pen: Pen,
  x: number,
  y: number,
  width: number,
  height: number,
  colour: string,
): void {
  pen.line([x, y, x + width, y, x + width, y + height, x, y + height, x, y], colour, 1.5);
}

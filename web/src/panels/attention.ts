// Attention: a row for each sequence, a column for each position, the tokens written where they fit.

import type { Pen } from "../drawing/pen";
import { mix } from "../model/colour-space";
import { marks, type Mark } from "../model/marks";
import type { Palette } from "../model/palette";
import { activeIn, baseOf, plotBox, type Frame, type Painter } from "./painter";
import { rowGrid, columnLeft, cellAt, SequenceRows, type RowGrid } from "./sequence-rows";

const SHADES = 64;
const FADED = 0.25;
const LARGEST = 14; // pixels: a token's digits grow with their cell up to here
const LEAST_CHANGE = 0.02; // of attention, that is drawn in full colour
const NOTE = 9; // pixels above the rows, for how many there are

/** A shade of attention and the ink that can be read on it. */
interface Shade {
  fill: string;
  ink: string;
}

export class Attention implements Painter {
  private grid: RowGrid | null = null;
  private rows: SequenceRows | null = null;
  private about: unknown = null;
  private shades: readonly Shade[] = [];
  private less: readonly Shade[] = []; // of a difference: where there is less than before
  private shaded: unknown = null;

  key(frame: Frame): string {
    const grid = this.layOut(frame);
    return `${grid.count} ${grid.columns} ${frame.slot.grouped.value.count}`;
  }

  back(pen: Pen, frame: Frame): void {
    const { length, count } = frame.slot.grouped.value;
    const grid = this.layOut(frame);
    const style = { colour: frame.palette.colours.quiet, size: 9 };
    const { box, columns, width } = grid;
    for (let column = 0; column < columns; column++)
      for (let t = 0; t < length; t += Math.ceil(16 / width)) {
        const x = columnLeft(grid, column) + (t + 0.5) * width;
        pen.text(String(t), x, box.y + box.height + 9, { ...style, anchor: "middle" });
      }
    if (grid.count < count)
      pen.text(`${grid.count} of ${count} sequences`, box.x + box.width, box.y - 7, {
        ...style,
        anchor: "end",
      });
  }

  front(pen: Pen, frame: Frame): void {
    const { scene, mark } = frame;
    const { grid, rows } = this;
    if (!scene || !grid || !rows) return;
    const sequences = frame.slot.grouped.value;
    const marked = rows.show(mark?.kind === "sequence" ? mark.index : -1);
    const base = baseOf(frame);
    const most = base
      ? mostChanged(scene.attention, base.attention, rows.shown, sequences.length)
      : highest(scene.attention, rows.shown, sequences.length);
    const active = activeIn(frame);
    for (let place = 0; place < grid.count; place++) {
      const sequence = rows.shown[place]!;
      const related = marks(mark, "sequence", sequence, sequences, active);
      this.row(pen, frame, grid, place, sequence, most, related === false);
    }
    this.outlines(pen, frame, grid, marked);
  }

  pick(x: number, y: number, frame: Frame): Mark | null {
    const found = this.grid && cellAt(this.grid, frame.slot.grouped.value.length, x, y);
    if (!found) return null;
    const [place, column] = found;
    const slot = frame.slot.index;
    if (place < 0) return { slot, kind: "position", index: column };
    return { slot, kind: "sequence", index: this.rows!.shown[place]! };
  }

  private row(
    pen: Pen,
    frame: Frame,
    grid: RowGrid,
    place: number,
    sequence: number,
    most: number,
    faded: boolean,
  ): void {
    const { length, tokens } = frame.slot.grouped.value;
    const { width, height } = grid;
    const [gapX, gapY] = [width > 6 ? 1 : 0, height > 6 ? 1 : 0];
    const size = Math.min(LARGEST, Math.floor(height - 1));
    const written = width > 8 && height > 7.5 && !faded;
    const only = frame.mark?.kind === "token" ? frame.mark.index : -1;
    const base = baseOf(frame);
    const [shades, fewer] = [this.shadesOf(frame.palette), this.lessOf(frame.palette)];
    const from = sequence * length;
    const { left, top } = corner(grid, place);
    const [y0, y1] = [Math.round(top), Math.round(top + height)];
    for (let t = 0; t < length; t++) {
      const [x0, x1] = [Math.round(left + t * width), Math.round(left + (t + 1) * width)];
      const value = frame.scene!.attention[from + t]! - (base?.attention[from + t] ?? 0);
      const share = Math.min(1, Math.abs(value) / most) || 0;
      const shade = (value < 0 ? fewer : shades)[Math.round(share * (SHADES - 1))]!;
      const token = tokens[from + t]!;
      const dim = faded || (only >= 0 && token !== only);
      pen.rect(x0, y0, x1 - x0 - gapX, y1 - y0 - gapY, shade.fill, dim ? FADED : 1);
      if (!written || dim) continue;
      const style = { colour: shade.ink, size, anchor: "middle" } as const;
      pen.text(String(token), (x0 + x1 - gapX) / 2, (y0 + y1 - gapY) / 2 + 0.5, style);
    }
  }

  /** The line around what is marked, and those between relevant positions and the others. */
  private outlines(pen: Pen, frame: Frame, grid: RowGrid, marked: number): void {
    const { box, width, height, columns } = grid;
    const { colours } = frame.palette;
    const { length } = frame.slot.grouped.value;
    const relevant = new Set(frame.slot.info.task.positions ?? []);
    const { mark } = frame;
    const position =
      mark?.kind === "position" ? mark.index : mark?.kind === "pair" ? mark.index % length : -1;
    for (let column = 0; column < columns; column++) {
      const left = columnLeft(grid, column);
      const end = corner(grid, Math.min(grid.count, (column + 1) * grid.down) - 1).top + height;
      for (let t = 1; t < length; t++) {
        if (relevant.has(t) === relevant.has(t - 1)) continue;
        const x = Math.round(left + t * width) - 0.5;
        pen.line([x, box.y, x, end], { colour: colours.query, width: 1.5 });
      }
      if (position >= 0)
        outline(pen, left + position * width, box.y, width, end - box.y, colours.ink);
    }
    if (marked < 0) return;
    const { left, top } = corner(grid, marked);
    outline(pen, left, top, length * width, height, colours.ink);
  }

  /** Where the rows are, and which; made again only when their number or the sequences change. */
  private layOut(frame: Frame): RowGrid {
    const sequences = frame.slot.grouped.value;
    const { count, length } = sequences;
    this.grid = rowGrid(plotBox(frame, 10), count, length, frame.big);
    if (this.grid.count < count)
      this.grid = rowGrid(plotBox(frame, 10, 20, 6 + NOTE), count, length, frame.big);
    if (this.about !== sequences || this.rows?.shown.length !== this.grid.count) {
      this.about = sequences;
      this.rows = new SequenceRows(sequences, this.grid.count);
    }
    return this.grid;
  }

  private shadesOf(palette: Palette): readonly Shade[] {
    if (this.shaded !== palette) {
      this.shaded = palette;
      this.shades = attentionShades(palette);
      this.less = shadesBetween(palette, palette.colours.heat);
    }
    return this.shades;
  }

  private lessOf(palette: Palette): readonly Shade[] {
    this.shadesOf(palette);
    return this.less;
  }
}

/** From no attention to the most. */
export function attentionShades(palette: Palette): Shade[] {
  return shadesBetween(palette, palette.colours.attention);
}

function shadesBetween(palette: Palette, colours: readonly string[]): Shade[] {
  const [from, to] = colours as [string, string];
  return Array.from({ length: SHADES }, (_, i) => {
    const fill = mix(from, to, (0.9 * i) / (SHADES - 1));
    return { fill, ink: palette.inkOn(fill) };
  });
}

/** The most attention in these rows, or twice what is everyone's share where that is more. */
function highest(attention: Float64Array, shown: Int32Array, length: number): number {
  let most = 2 / length;
  for (let place = 0; place < shown.length; place++)
    for (let i = shown[place]! * length; i < (shown[place]! + 1) * length; i++)
      if (attention[i]! > most) most = attention[i]!;
  return most;
}

/** The largest change in these rows, or a little where all are smaller. */
function mostChanged(
  now: Float64Array,
  before: Float64Array,
  shown: Int32Array,
  length: number,
): number {
  let most = LEAST_CHANGE;
  for (let place = 0; place < shown.length; place++)
    for (let i = shown[place]! * length; i < (shown[place]! + 1) * length; i++)
      most = Math.max(most, Math.abs(now[i]! - before[i]!) || 0);
  return most;
}

function corner(grid: RowGrid, place: number): { left: number; top: number } {
  const column = Math.floor(place / grid.down);
  const row = place - column * grid.down;
  return { left: columnLeft(grid, column), top: grid.box.y + row * grid.height };
}

function outline(
  pen: Pen,
  x: number,
  y: number,
  width: number,
  height: number,
  colour: string,
): void {
  pen.line([x, y, x + width, y, x + width, y + height, x, y + height, x, y], {
    colour,
    width: 1.5,
  });
}

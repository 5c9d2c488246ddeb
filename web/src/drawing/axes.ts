// A rectangle of data on a rectangle of pixels, with its grid and numbers.

import type { Colours } from "../model/theme";
import { tickLabels, ticks } from "../model/ticks";
import type { Extent } from "../model/types";
import type { Pen } from "./pen";
import { textWidth } from "./text";

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Numbering {
  flat?: boolean; // no numbers along y
  whole?: boolean; // whole numbers only along x: epochs
}

const PER_TICK = [60, 42]; // pixels, across and up

export class Axes {
  private readonly scaleX: number;
  private readonly scaleY: number;

  constructor(
    readonly extent: Extent,
    readonly box: Box,
  ) {
    this.scaleX = box.width / (extent.x1 - extent.x0);
    this.scaleY = box.height / (extent.y1 - extent.y0);
  }

  x(value: number): number {
    return this.box.x + (value - this.extent.x0) * this.scaleX;
  }

  y(value: number): number {
    return this.box.y + this.box.height - (value - this.extent.y0) * this.scaleY;
  }

  /** What lies at a place on the screen. */
  inverse(x: number, y: number): { x: number; y: number } {
    const { box, extent } = this;
    return {
      x: extent.x0 + (x - box.x) / this.scaleX,
      y: extent.y0 + (box.y + box.height - y) / this.scaleY,
    };
  }

  /** The length on the screen of a length along x. */
  across(length: number): number {
    return length * this.scaleX;
  }

  draw(pen: Pen, colours: Colours, { flat = false, whole = false }: Numbering = {}): void {
    this.columns(pen, colours, whole);
    if (!flat) this.rows(pen, colours);
  }

  private columns(pen: Pen, colours: Colours, whole: boolean): void {
    const { box, extent } = this;
    const bottom = box.y + box.height;
    const all = ticks(extent.x0, extent.x1, count(box.width, PER_TICK[0]));
    const values = whole ? all.filter(Number.isInteger) : all;
    tickLabels(values).forEach((text, i) => {
      const x = Math.round(this.x(values[i] ?? 0)) + 0.5;
      pen.line([x, box.y, x, bottom], { colour: colours.grid });
      const end = box.x + box.width + 5; // short of where the panel does
      const over = x + textWidth(text, { size: 9 }) / 2 > end;
      pen.text(text, over ? end : x, bottom + 9, {
        colour: colours.quiet,
        size: 9,
        anchor: over ? "end" : "middle",
      });
    });
  }

  private rows(pen: Pen, colours: Colours): void {
    const { box, extent } = this;
    const values = ticks(extent.y0, extent.y1, count(box.height, PER_TICK[1]));
    tickLabels(values).forEach((text, i) => {
      const y = Math.round(this.y(values[i] ?? 0)) + 0.5;
      pen.line([box.x, y, box.x + box.width, y], { colour: colours.grid });
      const fits = textWidth(text, { size: 9 }) <= box.x - 6;
      const style = { colour: colours.quiet, size: 9, halo: fits ? undefined : colours.panel };
      if (fits) pen.text(text, box.x - 5, y, { ...style, anchor: "end" });
      else pen.text(text, 1, y, style); // a long one is not cut at the panel's edge
    });
  }
}

/** Epochs along x: from the first to the last, or the only one in the middle. */
export const epochRange = (last: number): { x0: number; x1: number } =>
  last > 0 ? { x0: 0, x1: last } : { x0: -0.5, x1: 0.5 };

/** Places along a logarithmic axis between two powers of ten, about `most` of them, and their texts. */
export function logTicks(low: number, high: number, most: number): [power: number, text: string][] {
  if (high - low >= 1.7) {
    const each = Math.max(1, Math.ceil((high - low) / Math.max(1, most)));
    const first = Math.ceil(low / each);
    return Array.from({ length: Math.max(0, Math.floor(high / each) - first + 1) }, (_, i) => [
      (first + i) * each,
      `1e${(first + i) * each}`,
    ]);
  }
  const values = ticks(10 ** low, 10 ** high, Math.max(2, most));
  const texts = tickLabels(values);
  const apart = (high - low) / Math.max(1, most) / 1.5;
  let last = -Infinity;
  return values.flatMap((value, i): [number, string][] => {
    const power = Math.log10(value);
    if (!(power - last >= apart)) return [];
    last = power;
    return [[power, texts[i] ?? ""]];
  });
}

const count = (pixels: number, each = 50): number =>
  Math.max(2, Math.min(8, Math.round(pixels / each)));

// The picture behind the slider: loss curves on a logarithmic scale over the phases, a strip of
// gradient norms below, spikes above.

import { Axes, epochRange, logTicks } from "../drawing/axes";
import type { Pen } from "../drawing/pen";
import { blend, newPixels, word, type Pixels } from "../drawing/pixels";
import { textWidth } from "../drawing/text";
import { thinnedCurve } from "../drawing/thinned-curve";
import type { Palette } from "../model/palette";
import { phaseBands } from "../model/phase-bands";
import type { Colours } from "../model/theme";
import type { Numbers } from "../model/types";
import type { Slot } from "../state/page-state";

const LEFT = 42;
const RIGHT = 16;
const TOP = 12;
const STRIP = 10;
const BOTTOM = 17;

export interface Track {
  axes: Axes; // x: epochs, y: log10 of the loss
  strip: number; // where the strip of gradient norms begins
}

export function trackOf(
  width: number,
  height: number,
  slots: readonly Slot[],
  last: number,
): Track {
  const box = {
    x: LEFT,
    y: TOP,
    width: Math.max(10, width - LEFT - RIGHT),
    height: Math.max(10, height - TOP - STRIP - BOTTOM - 3),
  };
  const [low, high] = lossRange(slots);
  return {
    axes: new Axes({ ...epochRange(last), y0: low, y1: high }, box),
    strip: box.y + box.height + 2,
  };
}

export function drawTrack(
  pen: Pen,
  { axes, strip }: Track,
  slots: readonly Slot[],
  palette: Palette,
): void {
  const { colours } = palette;
  const main = slots[0];
  if (!main) return;
  drawBands(pen, axes, main, colours);
  drawGrid(pen, axes, strip, colours);
  const { x, y, width, height } = axes.box;
  pen.clipped(x, y, width, height, () => {
    slots
      .slice(0, main.role === "run" ? 2 : 1)
      .forEach((slot, i) => drawLosses(pen, axes, slot, colours, i > 0));
  });
  drawStrip(pen, axes, strip, main, colours);
  drawSpikes(pen, axes, main, colours);
}

export function drawHead(pen: Pen, { axes, strip }: Track, epoch: number, colours: Colours): void {
  const x = axes.x(epoch);
  const bottom = strip + STRIP;
  pen.line([x, axes.box.y - 4, x, bottom], { colour: colours.ink, width: 1.5 });
  pen.marker("circle", x, bottom, { fill: colours.accent, radius: 5, ring: colours.panel });
}

/** The epoch that stays on the left. */
export function drawHeld(pen: Pen, { axes, strip }: Track, epoch: number, colours: Colours): void {
  const x = axes.x(Math.min(epoch, axes.extent.x1));
  const bottom = strip + STRIP;
  pen.line([x, axes.box.y - 4, x, bottom], { colour: colours.quiet, width: 1.5, dash: [4, 3] });
  pen.marker("square", x, bottom, { fill: colours.quiet, radius: 4.5, ring: colours.panel });
}

export function epochAt({ axes }: Track, x: number): number {
  const { box, extent } = axes;
  return extent.x0 + ((x - box.x) / box.width) * (extent.x1 - extent.x0);
}

/** The summed gradient norm of all parameters at each epoch, where it was recorded. */
export function gradientNorm(curves: Record<string, Numbers>): Float64Array | null {
  const parts = Object.keys(curves)
    .filter((name) => name.startsWith("grad_norm/"))
    .map((name) => curves[name]!);
  if (!parts.length) return null;
  return Float64Array.from(parts[0]!, (_, epoch) =>
    Math.sqrt(parts.reduce((sum, part) => sum + (part[epoch] ?? NaN) ** 2, 0)),
  );
}

function lossRange(slots: readonly Slot[]): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const { curves } of slots)
    for (const value of [...(curves["train_loss"] ?? []), ...(curves["test_loss"] ?? [])]) {
      if (!(value > 0) || !Number.isFinite(value)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  return high > 0 ? [Math.max(-12, Math.log10(low)) - 0.2, Math.log10(high) + 0.25] : [-1, 1];
}

function drawBands(pen: Pen, axes: Axes, slot: Slot, colours: Colours): void {
  const analysis = slot.analysis.value;
  if (!analysis) return;
  const { y, height } = axes.box;
  let free = -Infinity; // where the last name ends
  for (const band of phaseBands(analysis)) {
    const [from, to] = [axes.x(band.from), axes.x(band.to)];
    pen.rect(
      from,
      y,
      to - from,
      height,
      colours.phases[band.phase % colours.phases.length] ?? colours.grid,
    );
    const width = textWidth(band.name, { bold: true }) + 9;
    if (to - from < width || from < free) continue;
    pen.text(band.name, from + 5, y + height - 8, { colour: colours.quiet, size: 10, bold: true });
    free = from + width;
  }
}

function drawGrid(pen: Pen, axes: Axes, strip: number, colours: Colours): void {
  const { box, extent } = axes;
  for (const [power, text] of logTicks(extent.y0, extent.y1, box.height / 17)) {
    const y = Math.round(axes.y(power)) + 0.5;
    pen.line([box.x, y, box.x + box.width, y], { colour: colours.border, alpha: 0.6 });
    if (y > strip + STRIP / 2 - 10) continue; // the strip's name is there
    pen.text(text, box.x - 6, y, { colour: colours.quiet, size: 9, anchor: "end" });
  }
  const below: Axes = new Axes(extent, { ...box, height: box.height + STRIP + 4 });
  below.draw(pen, { ...colours, grid: "transparent" }, { flat: true, whole: true });
}

function drawLosses(pen: Pen, axes: Axes, slot: Slot, colours: Colours, second: boolean): void {
  const scale = (value: number): number => axes.y(Math.log10(Math.max(value, 1e-30)));
  for (const set of ["test", "train"] as const) {
    const values = slot.curves[`${set}_loss`];
    if (!values) continue;
    const alone = values.length === 1; // no epochs: a line would not be seen
    if (alone)
      pen.marker("circle", axes.x(0), scale(values[0]!), { fill: colours.curves[set], radius: 4 });
    const points = thinnedCurve(
      values,
      undefined,
      axes.box.width,
      axes.extent.x1,
      (at) => axes.x(at),
      scale,
    );
    pen.line(points, {
      colour: colours.curves[set],
      width: set === "train" ? 1.5 : 1.1,
      dash: second ? [4, 3] : [],
      alpha: set === "train" ? 1 : 0.8,
    });
  }
}

/** Redder where the gradient is larger, by rank: a spike must not hide the rest. One picture: side by
 * side, small rectangles would overlap or leave gaps where pixels are not whole. */
function drawStrip(pen: Pen, axes: Axes, top: number, slot: Slot, colours: Colours): void {
  const { box } = axes;
  const norms = gradientNorm(slot.curves);
  const ground = blend(word(colours.panel), word(colours.grid), Math.round(0.7 * 255));
  const strip = newPixels(Math.max(1, Math.round(box.width)), 1);
  strip.words.fill(ground);
  if (norms) paintNorms(strip, norms.map(Math.log10), axes.extent.x1, word(colours.bad));
  pen.image(strip, box.x, top, box.width, STRIP);
}

/** Over each pixel, the largest of its epochs. */
function paintNorms(strip: Pixels, logs: Float64Array, last: number, red: number): void {
  const sorted = [...logs].filter(Number.isFinite).sort((a, b) => a - b);
  const [low, high] = [
    sorted[Math.floor(sorted.length * 0.05)] ?? 0,
    sorted[Math.floor(sorted.length * 0.995)] ?? 1,
  ];
  const step = last / strip.width;
  for (let pixel = 0; pixel < strip.width; pixel++) {
    let most = -Infinity;
    for (let e = Math.floor(pixel * step); e <= Math.min(logs.length - 1, (pixel + 1) * step); e++)
      if ((logs[e] ?? NaN) > most) most = logs[e]!;
    const share = Math.min(1, Math.max(0, (most - low) / (high - low || 1)));
    strip.words[pixel] = blend(strip.words[pixel]!, red, Math.round(255 * share ** 3));
  }
}

function drawSpikes(pen: Pen, axes: Axes, slot: Slot, colours: Colours): void {
  for (const spike of slot.analysis.value?.spikes?.spikes ?? []) {
    const x = axes.x(spike.peak);
    pen.marker("triangle-down", x, axes.box.y - 6, { fill: colours.warning, radius: 4 });
  }
}

// Curves over the run with the playhead: the curves are the lower layer, drawn once.

import { Axes, epochRange, logTicks } from "../drawing/axes";
import type { Pen } from "../drawing/pen";
import { textWidth } from "../drawing/text";
import { thinnedCurve } from "../drawing/thinned-curve";
import type { Panel } from "../model/types";
import { comparedWith } from "../state/difference";
import { seen, slotEnd, type Slot } from "../state/page-state";
import { plotBox, type Frame, type Painter } from "./painter";

export interface CurveLine {
  name: string;
  colour: string;
  dashed?: boolean;
  values: ArrayLike<number | null>;
  epochs?: ArrayLike<number | null>; // where not every epoch has a value
}

export interface CurvesSpec {
  name: Panel;
  log: boolean; // unless the person wants it linear
  overlaid?: boolean; // with those of the run beside it
  range?: [number, number]; // where it is known: 0 to 1
  lines(frame: Frame): CurveLine[];
}

const DASH = [4, 2.5];

export class Curves implements Painter {
  private axes: Axes | null = null;
  private lines: CurveLine[] = [];
  private log = false;

  constructor(private readonly spec: CurvesSpec) {}

  key(frame: Frame): string {
    const other = comparedWith(frame.slot, frame.together);
    this.lines = this.linesOf(frame, other);
    this.log = isLogarithmic(this.spec) && !other;
    const fixed = other ? undefined : this.spec.range;
    const [y0, y1] = fixed ?? range(this.lines, this.log);
    const box = plotBox(frame, this.log || !fixed ? 36 : 30, 20, 20);
    this.axes = new Axes({ ...epochRange(slotEnd(frame.slot)), y0, y1 }, box);
    return `${y0} ${y1} ${this.log} ${this.lines.map((line) => line.name).join()} ${this.lines[0]?.values.length ?? 0}`;
  }

  /** Its own; minus those of the run that it is compared with; or over those of the run beside it. */
  private linesOf(frame: Frame, other: Slot | null): CurveLine[] {
    const own = this.spec.lines(frame);
    const linesOf = (slot: Slot): CurveLine[] => this.spec.lines({ ...frame, slot });
    if (other) return own.flatMap((line) => lessThan(line, linesOf(other)));
    const beside = frame.together.find((slot) => slot !== frame.slot && slot.role === "run");
    if (!beside || !this.spec.overlaid) return own;
    const side = beside.index === 0 ? "left" : "right";
    const theirs = linesOf(beside).map((line) => ({
      ...line,
      name: `${side} ${line.name}`,
      dashed: true,
    }));
    return [...own, ...theirs];
  }

  back(pen: Pen, frame: Frame): void {
    const { axes } = this;
    if (!axes) return;
    const { colours } = frame.palette;
    if (this.log) drawPowers(pen, axes, colours.grid, colours.quiet);
    axes.draw(pen, colours, { flat: this.log, whole: true });
    const { x, y, width, height } = axes.box;
    pen.clipped(x, y - 1, width, height + 2, () => {
      for (const line of this.lower())
        pen.line(this.trace(line, axes), {
          colour: line.colour,
          width: 1.3,
          dash: line.dashed ? DASH : [],
        });
    });
    this.legend(pen, frame);
  }

  front(pen: Pen, frame: Frame): void {
    const { axes } = this;
    if (!axes) return;
    const { colours } = frame.palette;
    const x = axes.x(Math.min(frame.epoch, frame.slot.info.epochs));
    pen.line([x, axes.box.y, x, axes.box.y + axes.box.height], { colour: colours.ink, width: 1.2 });
    for (const line of this.lower()) {
      const value = valueAt(line, frame.epoch);
      if (value === null) continue;
      const y = axes.y(this.log ? Math.log10(Math.max(value, 1e-45)) : value);
      if (y > axes.box.y - 2 && y < axes.box.y + axes.box.height + 2)
        pen.marker("circle", x, y, { fill: line.colour, radius: 2.6, ring: colours.panel });
    }
  }

  /** The epoch under these pixels. */
  epochAt(x: number): number | null {
    if (!this.axes) return null;
    const { box, extent } = this.axes;
    return Math.round(extent.x0 + ((x - box.x) / box.width) * (extent.x1 - extent.x0));
  }

  /** The first line is drawn last: where lines meet, it is the one to see. */
  private lower(): CurveLine[] {
    return [...this.lines].reverse();
  }

  private trace(line: CurveLine, axes: Axes): number[] {
    const scale = (value: number): number =>
      axes.y(this.log ? Math.log10(Math.max(value, 1e-45)) : value);
    return thinnedCurve(
      line.values,
      line.epochs,
      axes.box.width,
      axes.extent.x1,
      (at) => axes.x(at),
      scale,
    );
  }

  private legend(pen: Pen, frame: Frame): void {
    const { colours } = frame.palette;
    const size = frame.big ? 11 : 9;
    let x = 30;
    for (const line of this.lines) {
      const width = textWidth(line.name, { size }) + 12;
      if (x + width > frame.width - 4) break;
      pen.line([x, 9, x + 7, 9], {
        colour: line.colour,
        width: 2.5,
        dash: line.dashed ? [3, 1] : [],
      });
      pen.text(line.name, x + 10, 9, { colour: colours.quiet, size });
      x += width + 3;
    }
  }
}

/** A line minus the one of the same name; none where that is not there. */
function lessThan(line: CurveLine, others: readonly CurveLine[]): CurveLine[] {
  const other = others.find(({ name }) => name === line.name);
  if (!other || line.epochs || other.epochs) return [];
  const count = Math.min(line.values.length, other.values.length);
  const values = Float64Array.from(
    { length: count },
    (_, i) => (line.values[i] ?? NaN) - (other.values[i] ?? NaN),
  );
  return [{ ...line, values }];
}

/** Whether a panel's axis is logarithmic now. */
export function isLogarithmic({ name, log }: CurvesSpec): boolean {
  return log && !seen.linear.value.includes(name);
}

function drawPowers(pen: Pen, axes: Axes, grid: string, ink: string): void {
  const { box, extent } = axes;
  for (const [power, text] of logTicks(extent.y0, extent.y1, box.height / 22)) {
    const y = Math.round(axes.y(power)) + 0.5;
    pen.line([box.x, y, box.x + box.width, y], { colour: grid });
    pen.text(text, box.x - 5, y, { colour: ink, size: 9, anchor: "end" });
  }
}

function range(lines: readonly CurveLine[], log: boolean): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const { values } of lines)
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (value === null || value === undefined || !Number.isFinite(value) || (log && value <= 0))
        continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  if (!(high >= low)) return log ? [-3, 0] : [0, 1];
  if (!log) return [Math.min(0, 1.03 * low), high > 0 ? 1.03 * high : low < 0 ? 0 : 1]; // seen from 0
  return [Math.max(Math.log10(low), -16) - 0.15, Math.log10(high) + 0.15];
}

/** The value of a line at an epoch, or at the last one before that has one. */
export function valueAt(line: CurveLine, epoch: number): number | null {
  const { epochs, values } = line;
  let at = epoch;
  if (epochs) {
    at = -1;
    for (let i = 0; i < epochs.length && (epochs[i] ?? Infinity) <= epoch; i++) at = i;
  }
  const value = values[Math.min(at, values.length - 1)];
  return value === undefined || value === null || !Number.isFinite(value) ? null : value;
}

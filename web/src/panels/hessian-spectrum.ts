// Eigenvalues of the Hessian at the analysed epochs, from the lowest to the highest, on a scale
// that is linear near 0 and logarithmic beyond, so that both signs are seen.

import type { Pen } from "../drawing/pen";
import type { CurvatureAt } from "../model/server/answers";
import { plotBox, type Frame, type Painter } from "./painter";

export class Spectrum implements Painter {
  key(frame: Frame): string {
    return `${nearestCurvature(frame)?.epoch ?? "none"}`;
  }

  back(pen: Pen, frame: Frame): void {
    const found = nearestCurvature(frame);
    if (!found) return;
    const { colours } = frame.palette;
    const box = plotBox(frame, 36, 20, 20);
    const values = found.spectrum.eigenvalues.map((value) => value ?? NaN).sort((a, b) => a - b);
    const unit = Math.max(found.spectrum.tolerance, 1e-12);
    const scale = (value: number): number => Math.asinh(value / unit);
    const all = [scale(values[0] ?? -1), scale(values[values.length - 1] ?? 1), 0];
    const [low, high] = [Math.min(...all), Math.max(...all, 1)];
    const y = (value: number): number =>
      box.y + (box.height * (high - scale(value))) / (high - low || 1);
    for (const value of gridValues(values, unit)) {
      pen.line([box.x, y(value), box.x + box.width, y(value)], {
        colour: value ? colours.grid : colours.faint,
      });
      pen.text(value ? value.toExponential(0).replace("e+", "e") : "0", box.x - 5, y(value), {
        colour: colours.quiet,
        size: 9,
        anchor: "end",
      });
    }
    values.forEach((value, i) => {
      const colour = value < -unit ? colours.bad : value > unit ? colours.accent : colours.faint;
      const x = box.x + ((i + 0.5) * box.width) / values.length;
      pen.line([x, y(0), x, y(value)], {
        colour,
        width: Math.max(0.6, (0.7 * box.width) / values.length),
      });
    });
    pen.text(
      `epoch ${found.epoch}: ${found.spectrum.negative} negative of ${values.length}`,
      box.x,
      9,
      { colour: colours.quiet, size: 9.5 },
    );
  }

  front(): void {
    // all of it is in the lower layer: it changes with the analysed epoch only
  }
}

/** The analysed epoch nearest to the playhead. */
export function nearestCurvature(frame: Pick<Frame, "slot" | "epoch">): CurvatureAt | null {
  let best: CurvatureAt | null = null;
  for (const each of frame.slot.analysis.value?.curvature ?? [])
    if (!best || Math.abs(each.epoch - frame.epoch) < Math.abs(best.epoch - frame.epoch))
      best = each;
  return best;
}

function gridValues(values: number[], unit: number): number[] {
  const grid = [0];
  for (const end of [values[0] ?? 0, values[values.length - 1] ?? 0]) {
    if (Math.abs(end) <= unit) continue;
    const power = Math.floor(Math.log10(Math.abs(end)));
    const middle = Math.round((power + Math.log10(unit)) / 2);
    for (const p of new Set([power, middle]))
      if (10 ** p > 30 * unit) grid.push(Math.sign(end) * 10 ** p);
  }
  return grid;
}

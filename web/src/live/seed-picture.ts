// The small curve of a seed: no numbers, since all have the same axes, which the page tells once.

import type { Pen } from "../drawing/pen";
import type { SeedCurve, SeedReport } from "../model/live/seed-run";
import { pointEpoch } from "../model/live/thin-curve";
import { THRESHOLDS } from "../model/thresholds";
import type { Colours } from "../model/theme";

export interface SeedPicture {
  curve: SeedCurve;
  epochs: number; // the end of the axis of time
  powers: readonly [number, number]; // of ten: the axis of the loss
  width: number;
  height: number;
  colours: Colours;
}

const EDGE = 2; // pixels: a line at 0 or 1 is not cut in half

export function drawSeed(pen: Pen, report: SeedReport | null, picture: SeedPicture): void {
  const { curve, width, colours } = picture;
  for (const value of guides(picture)) {
    const y = placed(value, picture);
    pen.line([0, y, width, y], { colour: colours.grid });
  }
  if (!report) return;
  const points = tracedSeed(report.curves[curve], picture);
  const colour = curve === "loss" ? colours.curves.train : colours.curves.test;
  pen.line(points, { colour, width: 1.3 });
}

/** x0, y0, x1, y1, ... */
function tracedSeed(values: Float32Array, picture: SeedPicture): number[] {
  const across = picture.width / Math.max(1, picture.epochs);
  return Array.from(values).flatMap((value, i) => [
    pointEpoch(i, picture.epochs) * across,
    placed(value, picture),
  ]);
}

function placed(value: number, { curve, powers: [low, high], height }: SeedPicture): number {
  const share = curve === "loss" ? (Math.log10(value) - low) / (high - low) : value;
  const within = share < 0 ? 0 : share > 1 ? 1 : share; // NaN stays: it lifts the pen
  return height - EDGE - within * (height - 2 * EDGE);
}

/** Powers of ten; or the accuracy above which a run is solved. */
function guides({ curve, powers: [low, high] }: SeedPicture): number[] {
  if (curve === "accuracy") return [THRESHOLDS.solved_accuracy];
  return Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
}

// A panel as a file: SVG or PNG of what is seen, CSV of its numbers.

import { CanvasPen } from "../drawing/canvas-pen";
import { SvgPen } from "../drawing/svg-pen";
import { csv, fileName, panelCsv, panelSpan } from "../model/panel-csv";
import type { Panel } from "../model/types";
import { nearestCurvature } from "./hessian-spectrum";
import type { Frame, Painter } from "./painter";

export type FileFormat = "svg" | "png" | "csv";

const SHARPNESS = 3; // pixels of a PNG for each of the screen's

export async function save(
  name: Panel,
  format: FileFormat,
  painter: Painter,
  frame: Frame,
): Promise<void> {
  const file = fileName(frame.slot.info.id, name, format, epochOf(name, frame));
  download(file, await contents(name, format, painter, frame));
}

/** The epoch of what is shown, which need not be the playhead's: a scene may be on its way, weights
 * are kept and Hessians computed at some epochs only. */
function epochOf(name: Panel, frame: Frame): number {
  if (panelSpan(name) === "run") return frame.epoch;
  const { epoch } = (name === "hessian" ? nearestCurvature(frame) : frame.scene) ?? frame;
  return epoch;
}

async function contents(
  name: Panel,
  format: FileFormat,
  painter: Painter,
  frame: Frame,
): Promise<Blob> {
  if (format === "csv") return new Blob([tableOf(name, frame)], { type: "text/csv" });
  const { width, height } = frame;
  frame = { ...frame, ratio: SHARPNESS };
  painter.key(frame); // settles the axes
  if (format === "svg") {
    const pen = new SvgPen(width, height);
    pen.rect(0, 0, width, height, frame.palette.colours.panel);
    painter.back(pen, frame);
    painter.front(pen, frame);
    return new Blob([pen.toString()], { type: "image/svg+xml" });
  }
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * SHARPNESS);
  canvas.height = Math.round(height * SHARPNESS);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("The browser gives no canvas to draw on.");
  context.scale(SHARPNESS, SHARPNESS);
  const pen = new CanvasPen(context);
  pen.rect(0, 0, width, height, frame.palette.colours.panel);
  painter.back(pen, frame);
  painter.front(pen, frame);
  return pngOf(canvas);
}

export function pngOf(canvas: HTMLCanvasElement): Promise<Blob> {
  return new Promise((done, fail) =>
    canvas.toBlob((blob) =>
      blob ? done(blob) : fail(new Error("The picture could not be made.")),
    ),
  );
}

/** What the model does not know of is in the analysis. */
function tableOf(name: Panel, { slot, scene }: Frame): string {
  const { shares, curvature } = slot.analysis.value ?? {};
  if (name === "shares" && shares)
    return csv(
      ["epoch", "between", "permutation", "suffix"],
      shares.epochs.map((epoch, i) => [
        epoch,
        shares.between[i] ?? NaN,
        shares.permutation[i] ?? NaN,
        shares.suffix[i] ?? NaN,
      ]),
    );
  if (name === "hessian" && curvature)
    return csv(
      ["epoch", "eigenvalue"],
      curvature.flatMap(({ epoch, spectrum }) =>
        spectrum.eigenvalues.map((value) => [epoch, value ?? NaN]),
      ),
    );
  if (!scene) throw new Error("There is no data to save yet.");
  const found = panelCsv(name, {
    scene,
    plan: slot.plan.value,
    sequences: slot.sequences.value,
    curves: slot.curves,
  });
  if (found === null) throw new Error("There is no data to save yet.");
  return found;
}

export function download(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

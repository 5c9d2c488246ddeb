// The stage as it is now, as a file: SVG, whose texts stay texts, or PNG.

import { canvasOf } from "../drawing/pixels";
import { SvgPen } from "../drawing/svg-pen";
import { ReadableError } from "../model/errors";
import { runFileName } from "../model/panel-csv";
import { shownPanels } from "../panels/panel-grid";
import { whyEmpty } from "../panels/panel-notes";
import { markFor } from "../panels/panel-canvas";
import { download, pngOf } from "../panels/save-panel";
import { store } from "../state/all-runs";
import { palette } from "../state/colour-scheme";
import { epoch, pinned, seen, slots, type Slot } from "../state/page-state";
import { presenting } from "../state/presentation";
import { StageComposer, type StageMoment, type StageView } from "./stage-composer";
import type { StageSize } from "./stage-layout";
import { StageRaster } from "./stage-raster";
import { StageSlots } from "./stage-slots";

const SHARPNESS = 2; // pixels for each of the page's

/** What is to be seen of the page now. Panels that have nothing to show are left out, unless there
 * are no others. */
export function stageView(all: readonly Slot[], colours = palette.peek()): StageView {
  const kept = pinned.peek();
  const chosen = all.map((slot) => {
    const { shown } = shownPanels(slot, all.length === 1);
    const full = shown.filter((name) => whyEmpty(name, slot) === null);
    return full.length ? full : shown;
  });
  if (!chosen.some((panels) => panels.length))
    throw new ReadableError('All panels are hidden; the menu "Panels" shows them again.');
  return {
    name: store.peek()?.name ?? "",
    slots: all,
    panels: chosen,
    big: seen.big.peek() !== null,
    presenting: presenting.peek(),
    axes: seen.axes.peek(),
    palette: colours,
    mark: (slot) => markFor(slot, kept),
  };
}

/** The size that the page gives to panels and time bar. */
export function pageSize(): StageSize {
  const { clientWidth, clientHeight } = document.documentElement;
  return { width: Math.max(390, clientWidth), height: Math.max(320, clientHeight), ratio: 1 };
}

export async function saveStage(format: "svg" | "png"): Promise<void> {
  const size = { ...pageSize(), ratio: SHARPNESS };
  const file = runFileName(slots.peek()[0]!.info.id, epoch.peek(), "stage", format);
  const blob = await withStage(size, (composer, moment) =>
    format === "png"
      ? pngOf(canvasOf(new StageRaster(composer).draw(moment)))
      : new Blob([stageSvg(composer, moment)], { type: "image/svg+xml" }),
  );
  download(file, blob);
}

/** Does something with the stage at the page's epoch. */
export async function withStage<T>(
  size: StageSize,
  use: (composer: StageComposer, moment: StageMoment) => T | Promise<T>,
  colours = palette.peek(),
): Promise<T> {
  const moment = { epoch: epoch.peek(), time: 0 };
  const runs = await StageSlots.open();
  try {
    const composer = new StageComposer(stageView(runs.all, colours), size);
    await runs.show(moment.epoch, () => composer.settle(moment));
    return await use(composer, moment);
  } finally {
    runs.close();
  }
}

/** The stage as SVG. */
export function stageSvg(composer: StageComposer, moment: StageMoment): string {
  const { width, height } = composer.size;
  const pen = new SvgPen(width, height);
  composer.ground(pen);
  for (const { box, painter, frame } of composer.pictures) {
    const now = frame(moment);
    painter.key(now);
    pen.within(box, now.ratio / composer.size.ratio, () => {
      painter.back(pen, now);
      painter.front(pen, now);
    });
  }
  composer.texts(pen, moment);
  return pen.toString();
}

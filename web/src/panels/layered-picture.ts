// A painter's picture in plain memory: its lower layer is kept until what that depends on changes.

import { newPixels, type Pixels } from "../drawing/pixels";
import { RasterPen } from "../drawing/raster-pen";
import type { Frame, Painter } from "./painter";

export class LayeredPicture {
  private key = "";
  private lower: Pixels<ArrayBuffer> = newPixels(0, 0);
  private shown: Pixels<ArrayBuffer> = newPixels(0, 0);

  constructor(private readonly painter: Painter) {}

  /** Both layers as the frame has them; the next call paints over the same pixels. */
  paint(frame: Frame): Pixels<ArrayBuffer> {
    this.fit(Math.round(frame.width * frame.ratio), Math.round(frame.height * frame.ratio));
    const key = `${this.painter.key(frame)} ${frame.palette.theme} ${frame.ratio}`;
    if (key !== this.key) this.paintLower(frame);
    this.key = key;
    this.shown.words.set(this.lower.words);
    this.painter.front(new RasterPen(this.shown, frame.ratio), frame);
    return this.shown;
  }

  /** The next picture is painted as if all had changed. */
  forget(): void {
    this.key = "";
  }

  private fit(width: number, height: number): void {
    if (this.lower.width === width && this.lower.height === height) return;
    this.lower = newPixels(width, height);
    this.shown = newPixels(width, height);
    this.forget();
  }

  private paintLower(frame: Frame): void {
    const pen = new RasterPen(this.lower, frame.ratio);
    pen.rect(0, 0, frame.width + 1, frame.height + 1, frame.palette.colours.panel);
    this.painter.back(pen, frame);
  }
}

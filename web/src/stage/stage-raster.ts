// The stage as pixels: for films, and for pictures as PNG.

import { newPixels, type Pixels } from "../drawing/pixels";
import { RasterPen } from "../drawing/raster-pen";
import { LayeredPicture } from "../panels/layered-picture";
import type { StageComposer, StageMoment } from "./stage-composer";

export class StageRaster {
  private readonly out: Pixels<ArrayBuffer>;
  private readonly ground: Pixels<ArrayBuffer>;
  private readonly pictures: readonly LayeredPicture[];

  constructor(private readonly composer: StageComposer) {
    const { width, height, ratio } = composer.size;
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    this.out = newPixels(across, down);
    this.ground = newPixels(across, down);
    composer.ground(new RasterPen(this.ground, ratio));
    this.pictures = composer.pictures.map(({ painter }) => new LayeredPicture(painter));
  }

  /** The next call draws over the same pixels. */
  draw(moment: StageMoment): Pixels<ArrayBuffer> {
    const { ratio } = this.composer.size;
    this.out.words.set(this.ground.words);
    this.composer.pictures.forEach(({ box, frame }, i) => {
      const picture = this.pictures[i]!.paint(frame(moment));
      copy(picture, this.out, Math.round(box.x * ratio), Math.round(box.y * ratio));
    });
    this.composer.texts(new RasterPen(this.out, ratio), moment);
    return this.out;
  }
}

function copy(from: Pixels, to: Pixels, x: number, y: number): void {
  for (let row = 0; row < from.height; row++)
    to.words.set(
      from.words.subarray(row * from.width, (row + 1) * from.width),
      (y + row) * to.width + x,
    );
}

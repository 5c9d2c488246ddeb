// The time bar's picture on the stage: the track is its lower layer, the playhead the upper one.

import type { Pen } from "../drawing/pen";
import { lastEpochOf } from "../state/page-state";
import type { Frame, Painter } from "../panels/painter";
import { drawHead, drawTrack, trackOf, type Track } from "../time/timeline";

export class TrackPainter implements Painter {
  private track: Track | null = null;

  key({ width, height, together }: Frame): string {
    this.track = trackOf(width, height, together, lastEpochOf(together));
    return `${width} ${height} ${together.length}`;
  }

  back(pen: Pen, { together, palette }: Frame): void {
    if (!this.track) return;
    drawTrack(pen, this.track, together, palette);
    const { axes, strip } = this.track;
    const recorded = together[0]?.info.curveNames.some((name) => name.startsWith("grad_norm/"));
    if (recorded)
      pen.text("|∇|", axes.box.x - 6, strip + 5, {
        colour: palette.colours.quiet,
        size: 9,
        anchor: "end",
      });
  }

  front(pen: Pen, { epoch, palette }: Frame): void {
    if (this.track) drawHead(pen, this.track, epoch, palette.colours);
  }
}

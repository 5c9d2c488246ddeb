// The axes of one panel from frame to frame: fixed over the run, or following the points.

import type { Box } from "../drawing/axes";
import {
  movedTowards,
  framed,
  NOTHING,
  sameExtent,
  settled,
  union,
} from "../model/scene/axis-ranges";
import { panelExtent } from "../model/scene/panel-extents";
import type { Extent, FramedPanel, MapPanel } from "../model/types";
import type { Frame } from "./painter";

const MARGIN = 0.015; // of a map's size, on each side: lines are drawn up to the edge
const MARGIN_MOVING = 0.1;

function grown({ x0, x1, y0, y1 }: Extent, by: number): Extent {
  const [dx, dy] = [by * (x1 - x0), by * (y1 - y0)];
  return { x0: x0 - dx, x1: x1 + dx, y0: y0 - dy, y1: y1 + dy };
}

export class PanelAxes {
  private current: Extent | null = null;
  private target: Extent | null = null;
  private at = 0;
  moving = false;

  constructor(
    private readonly panel: FramedPanel,
    private readonly map: MapPanel | undefined,
  ) {}

  extent(frame: Frame, box: Box): Extent {
    const aspect = box.width / box.height;
    const extent =
      frame.axes === "fixed" ? this.fixed(frame, aspect) : this.followed(frame, aspect);
    if (this.map) this.tell(frame, this.map, extent);
    return extent;
  }

  /** The worker makes maps for what is seen, with a margin where the axes move. */
  private tell({ slot }: Frame, map: MapPanel, extent: Extent): void {
    const told = slot.mapExtents.peek()[map];
    const wider = grown(extent, this.moving ? MARGIN_MOVING : MARGIN);
    if (told && sameExtent(told, wider)) return;
    slot.mapExtents.value = { ...slot.mapExtents.peek(), [map]: wider };
  }

  private fixed(frame: Frame, aspect: number): Extent {
    this.current = this.target = null;
    this.moving = false;
    return framed(frame.slot.extents.value[this.panel], aspect);
  }

  private followed(frame: Frame, aspect: number): Extent {
    this.target = settled(this.target, this.now(frame), aspect);
    this.current = movedTowards(this.current, this.target, Math.min(frame.time - this.at, 50));
    this.at = frame.time;
    this.moving = !sameExtent(this.current, this.target);
    return this.current;
  }

  /** What the axes have to hold now. Two moments of one run share them: they are to be compared. */
  private now({ slot, together, difference }: Frame): Extent {
    const compared = difference && together.some((other) => other.from.value !== null);
    const same = together.filter((other) => compared || other.info.id === slot.info.id);
    return same.reduce(
      (all, { scene, plan }) =>
        scene.value ? union(all, panelExtent(this.panel, scene.value, plan.value)) : all,
      { ...NOTHING },
    );
  }
}

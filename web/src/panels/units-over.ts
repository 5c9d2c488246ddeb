// Hidden units over the sequences that they respond to: receptors and assemblers as spokes.

import { arrow } from "../drawing/arrow";
import type { Axes } from "../drawing/axes";
import type { Pen } from "../drawing/pen";
import { marks, thingAt, type Mark } from "../model/marks";
import type { PointStyle } from "../model/palette";
import { UNIT_ENDS, type Scene, type UnitEnd } from "../model/types";
import { activeIn, type Frame } from "./painter";

const SIZE = 4; // of a marker, in pixels
const LINES: Record<UnitEnd, number[]> = { receptors: [], assemblers: [3, 2] }; // dashes

export class UnitsOver {
  private places: Record<UnitEnd, { x: number; y: number }[]> = { receptors: [], assemblers: [] };

  draw(pen: Pen, frame: Frame, axes: Axes, scene: Scene): void {
    const { palette, slot, mark } = frame;
    const [plan, sequences] = [slot.plan.value, slot.sequences.value];
    const [active, from] = [activeIn(frame), slot.from.value];
    const [x0, y0] = [axes.x(0), axes.y(0)];
    for (const end of UNIT_ENDS) {
      const points = scene.neurons[end];
      this.places[end] = Array.from(points.x, (x, i) => ({
        x: axes.x(x),
        y: axes.y(points.y[i]!),
      }));
      this.places[end].forEach(({ x, y }, i) => {
        const unit = thingAt("unit", i, plan);
        const marked = marks(mark, "unit", unit, sequences, active);
        const own = end === "receptors" ? palette.receptor(unit) : palette.assembler(unit);
        const style: PointStyle = marked === false ? palette.faded(own) : own;
        pen.line([x0, y0, x, y], {
          colour: style.fill,
          width: marked ? 2 : 1,
          alpha: marked ? 1 : 0.4,
          dash: LINES[end],
        });
        const before = from?.neurons[end];
        if (before && marked !== false)
          arrow(pen, [axes.x(before.x[i]!), axes.y(before.y[i]!), x, y], {
            colour: style.fill,
            width: 1,
            alpha: 0.55,
          });
        pen.marker(style.marker, x, y, {
          fill: style.fill,
          radius: SIZE * (frame.big ? 1.5 : 1),
          ring: marked && mark?.kind === "unit" ? palette.colours.ink : style.stroke,
        });
      });
    }
  }

  pick(x: number, y: number, { slot }: Frame, reach: number): Mark | null {
    let [best, least] = [-1, reach * reach];
    for (const end of UNIT_ENDS)
      this.places[end].forEach((place, i) => {
        const far = (place.x - x) ** 2 + (place.y - y) ** 2;
        if (far < least) [best, least] = [i, far];
      });
    if (best < 0) return null;
    return { slot: slot.index, kind: "unit", index: thingAt("unit", best, slot.plan.value) };
  }
}

// Points on a plane: the one painter behind eleven panels and both maps.

import { arrow } from "../drawing/arrow";
import { Axes } from "../drawing/axes";
import { Placer, type Label } from "../drawing/labels";
import type { Pen } from "../drawing/pen";
import { marks, thingAt, type Mark } from "../model/marks";
import type { PointStyle } from "../model/palette";
import type { FramedPanel, Kind, MapPanel, PointPanel, Points, Scene } from "../model/types";
import { drawBorder, ClassMapImage } from "./class-map";
import type { Movable } from "../model/live/weight-edits";
import { activeIn, baseOf, plotBox, type Frame, type Grabbed, type Painter } from "./painter";
import { PanelAxes } from "./panel-axes";
import { nameBeside, namesOfGroups, namesOfPoints } from "./point-names";
import { UnitsOver } from "./units-over";

export interface ScatterSpec {
  name: FramedPanel | MapPanel;
  panel: PointPanel; // whose points
  kind: Kind;
  radius: number;
  styles(frame: Frame): readonly PointStyle[];
  labels?(frame: Frame): readonly (string | null)[] | null; // of points
  groups?: boolean; // label the multisets instead
  circle?(frame: Frame): number; // radius of normalised vectors
  spokes?: boolean; // lines from the origin
  query?: boolean;
  units?: boolean; // hidden units over the points, which are theirs to respond to
  map?: MapPanel;
}

const REACH = 13; // pixels from the pointer
const [FADED, PLAIN, MARKED] = [-1, 0, 1] as const;
const NOTE = 16; // pixels on top that the note of a projection takes
const MOST_NAMES = [10, 60] as const; // of multisets, in a small panel and in a large one

/** What the points of a panel are, where that is a parameter itself. */
const MOVED: Partial<Record<PointPanel, Movable["parameter"]>> = {
  tokens: "token_embedding",
  positions: "position_embedding",
  receptors: "receptors",
  assemblers: "assemblers",
};

export class Scatter implements Painter {
  private readonly panelAxes: PanelAxes;
  private readonly placer = new Placer();
  private readonly image = new ClassMapImage();
  private readonly units: UnitsOver | null;
  private axes: Axes | null = null;
  xs = new Float64Array(0); // where the points are on the screen
  ys = new Float64Array(0);
  private states = new Int8Array(0); // of the points: FADED, PLAIN or MARKED
  private pale: readonly PointStyle[] = []; // their styles where they are faded
  private paleOf: unknown = null;

  constructor(private readonly spec: ScatterSpec) {
    this.panelAxes = new PanelAxes(spec.units ? "neurons" : spec.panel, spec.map);
    this.units = spec.units ? new UnitsOver() : null;
  }

  key(frame: Frame): string {
    const box = plotBox(
      frame,
      32,
      20,
      frame.slot.plan.value.planes[this.spec.panel].projected ? NOTE : 6,
    );
    this.axes = new Axes(this.panelAxes.extent(frame, box), box);
    const { x0, x1, y0, y1 } = this.axes.extent;
    return `${x0} ${x1} ${y0} ${y1}`;
  }

  back(pen: Pen, frame: Frame): void {
    const flat = frame.slot.info.config.model.dim === 1;
    this.axes?.draw(pen, frame.palette.colours, { flat });
  }

  front(pen: Pen, frame: Frame): void {
    const { axes } = this;
    const { scene } = frame;
    if (!axes || !scene) return;
    const points = scene.points[this.spec.panel];
    this.locate(points, axes);
    this.mark(frame);
    const { x, y, width, height } = axes.box;
    pen.clipped(x, y, width, height, () => {
      if (this.spec.map) this.image.draw(pen, axes, scene.maps[this.spec.map], frame);
      if (this.spec.map) this.boundaryBefore(pen, frame, axes, this.spec.map);
      this.scaffold(pen, frame, axes);
      const from = frame.slot.from.value;
      if (from && !this.onOtherPlane(frame)) this.displacements(pen, frame, axes, from);
      this.dots(pen, frame);
      this.units?.draw(pen, frame, axes, scene);
      if (this.spec.query) this.query(pen, frame, axes, scene);
    });
    this.write(pen, frame, axes);
  }

  pick(x: number, y: number, frame: Frame): Mark | null {
    const unit = this.units?.pick(x, y, frame, REACH);
    if (unit) return unit; // they lie above
    let best = -1;
    let least = REACH * REACH;
    for (let i = 0; i < this.xs.length; i++) {
      const far = (this.xs[i]! - x) ** 2 + (this.ys[i]! - y) ** 2;
      if (far < least) [best, least] = [i, far];
    }
    return best < 0
      ? null
      : {
          slot: frame.slot.index,
          kind: this.spec.kind,
          index: thingAt(this.spec.kind, best, frame.slot.plan.value),
        };
  }

  grab(x: number, y: number, frame: Frame): Grabbed | null {
    const { axes } = this;
    const { scene } = frame;
    if (!axes || !scene) return null;
    const { panel } = this.spec;
    const at = (px: number, py: number): { x: number; y: number } => axes.inverse(px, py);
    if (this.spec.query) {
      const [qx, qy] = [axes.x(scene.query.x[0]!), axes.y(scene.query.y[0]!)];
      if (Math.hypot(qx - x, qy - y) > REACH) return null;
      return { movable: { parameter: "query", index: 0 }, panel, at };
    }
    const parameter = MOVED[panel];
    const found = parameter && !this.units ? this.pick(x, y, frame) : null;
    return parameter && found ? { movable: { parameter, index: found.index }, panel, at } : null;
  }

  moving(): boolean {
    return this.panelAxes.moving;
  }

  private locate(points: Points, axes: Axes): void {
    if (this.xs.length !== points.count) {
      this.xs = new Float64Array(points.count);
      this.ys = new Float64Array(points.count);
    }
    for (let i = 0; i < points.count; i++) {
      this.xs[i] = axes.x(points.x[i]!);
      this.ys[i] = axes.y(points.y[i]!);
    }
  }

  private scaffold(pen: Pen, frame: Frame, axes: Axes): void {
    const { colours } = frame.palette;
    const [x, y] = [axes.x(0), axes.y(0)];
    const radius = this.spec.circle?.(frame) ?? 0;
    if (radius) pen.circle(x, y, axes.across(radius), { colour: colours.faint, dash: [3, 3] });
    if (radius || this.spec.spokes || this.spec.panel === "values")
      pen.marker("circle", x, y, { fill: colours.quiet, radius: 2 });
    if (!this.spec.spokes) return;
    this.spokes(pen, this.fadedStyles(frame), x, y, FADED, 1, 1);
    this.spokes(pen, this.spec.styles(frame), x, y, PLAIN, 1, 0.4);
    this.spokes(pen, this.spec.styles(frame), x, y, MARKED, 2, 1);
  }

  private spokes(
    pen: Pen,
    styles: readonly PointStyle[],
    x: number,
    y: number,
    state: number,
    width: number,
    alpha: number,
  ): void {
    for (let i = 0; i < this.xs.length; i++)
      if (this.states[i] === state)
        pen.line([x, y, this.xs[i]!, this.ys[i]!], { colour: styles[i]!.fill, width, alpha });
  }

  /** What is faded lies below all else; what is itself under the pointer above, and ringed. */
  private dots(pen: Pen, frame: Frame): void {
    const styles = this.spec.styles(frame);
    const radius = this.spec.radius * (frame.big ? 1.5 : 1);
    this.stamp(pen, this.fadedStyles(frame), FADED, radius);
    this.stamp(pen, styles, PLAIN, radius);
    if (frame.mark?.kind !== this.spec.kind) this.stamp(pen, styles, MARKED, radius);
    else this.stamp(pen, styles, MARKED, radius + 1.5, frame.palette.colours.ink);
  }

  private stamp(
    pen: Pen,
    styles: readonly PointStyle[],
    state: number,
    radius: number,
    ring?: string,
  ): void {
    for (let i = 0; i < this.xs.length; i++) {
      if (this.states[i] !== state) continue;
      const { marker, fill, stroke } = styles[i]!;
      pen.marker(marker, this.xs[i]!, this.ys[i]!, { fill, radius, ring: ring ?? stroke });
    }
  }

  /** Made when they are first needed. */
  private fadedStyles(frame: Frame): readonly PointStyle[] {
    const styles = this.spec.styles(frame);
    if (frame.mark && this.paleOf !== styles) {
      const { palette, slot } = frame;
      const ground = this.spec.map && palette.mapGround(slot.info.embeddings);
      this.paleOf = styles;
      this.pale = styles.map((style) => palette.faded(style, ground));
    }
    return this.pale;
  }

  /** Where the classes met in what this is compared with. */
  private boundaryBefore(pen: Pen, frame: Frame, axes: Axes, map: MapPanel): void {
    const before = baseOf(frame)?.maps[map];
    if (before?.width && before.classes === 2 && !this.onOtherPlane(frame))
      drawBorder(pen, axes, before, { colour: frame.palette.colours.query, dash: [4, 3] });
  }

  /** Of two runs with more than two dimensions each has a plane of its own. */
  private onOtherPlane({ slot, together }: Frame): boolean {
    const { projected } = slot.plan.value.planes[this.spec.panel];
    return projected && together.some((other) => other.info.id !== slot.info.id);
  }

  private displacements(pen: Pen, frame: Frame, axes: Axes, from: Scene): void {
    const before = from.points[this.spec.panel];
    const styles = this.spec.styles(frame);
    for (let i = 0; i < Math.min(before.count, this.xs.length); i++) {
      if (this.states[i] === FADED) continue;
      arrow(pen, [axes.x(before.x[i]!), axes.y(before.y[i]!), this.xs[i]!, this.ys[i]!], {
        colour: styles[i]!.fill,
        width: 1,
        alpha: 0.55,
      });
    }
  }

  private query(pen: Pen, frame: Frame, axes: Axes, scene: Scene): void {
    const { colours } = frame.palette;
    const [x, y] = [axes.x(scene.query.x[0]!), axes.y(scene.query.y[0]!)];
    arrow(pen, [axes.x(0), axes.y(0), x, y], { colour: colours.query, width: 2 });
  }

  /** Once in a frame: lines, points and names all ask. */
  private mark(frame: Frame): void {
    const { mark } = frame;
    const { kind } = this.spec;
    if (this.states.length !== this.xs.length) this.states = new Int8Array(this.xs.length);
    this.states.fill(PLAIN);
    if (!mark) return;
    const [plan, sequences] = [frame.slot.plan.value, frame.slot.sequences.value];
    const active = activeIn(frame);
    for (let i = 0; i < this.states.length; i++) {
      const marked = marks(mark, kind, thingAt(kind, i, plan), sequences, active);
      this.states[i] = marked === null ? PLAIN : marked ? MARKED : FADED;
    }
  }

  private write(pen: Pen, frame: Frame, axes: Axes): void {
    const labels = this.names(frame, axes);
    if (!labels.length) return;
    const { x, y, width, height } = axes.box;
    const r = this.spec.radius * 0.7;
    const dots = Array.from(this.xs, (px, i) => ({
      x0: px - r,
      x1: px + r,
      y0: this.ys[i]! - r,
      y1: this.ys[i]! + r,
    }));
    const bounds = { x0: x, x1: x + width, y0: y, y1: y + height };
    const { colours } = frame.palette;
    for (const label of this.placer.place(labels, bounds, dots))
      pen.text(label.text, label.left, label.middle, {
        colour: label.colour ?? colours.ink,
        bold: true,
        halo: colours.panel,
      });
  }

  private names(frame: Frame, axes: Axes): Label[] {
    const { groups, labels, query, radius } = this.spec;
    const sequences = frame.slot.grouped.value;
    const few = sequences.groupNames.length <= MOST_NAMES[frame.big ? 1 : 0];
    const shown = (i: number): boolean => this.states[i] !== FADED;
    const names = !groups
      ? namesOfPoints(labels?.(frame) ?? [], this, radius, shown)
      : few
        ? namesOfGroups(sequences, this, radius, frame.palette, axes.box, shown)
        : [];
    const q = query ? frame.scene?.query : undefined;
    if (q) {
      const label = nameBeside([-1, "q"], axes.x(q.x[0]!), axes.y(q.y[0]!), radius);
      names.unshift({ ...label, colour: frame.palette.colours.query });
    }
    return names;
  }
}

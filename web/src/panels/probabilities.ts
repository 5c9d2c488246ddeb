// Class probabilities: a segment for two classes, a simplex for three, a heat map for more.

import { arrow } from "../drawing/arrow";
import type { Box } from "../drawing/axes";
import type { Pen } from "../drawing/pen";
import { textWidth } from "../drawing/text";
import { marks, type Mark } from "../model/marks";
import type { PointStyle } from "../model/palette";
import type { Scene, Sequences } from "../model/types";
import { activeIn, baseOf, plotBox, type Frame, type Painter } from "./painter";

const REACH = 12;
const SIN60 = Math.sqrt(3) / 2;

export class Probabilities implements Painter {
  private box: Box = { x: 0, y: 0, width: 1, height: 1 };
  private xs = new Float64Array(0);
  private ys = new Float64Array(0);
  private about: unknown = null;
  private palette: unknown = null;
  private styles: readonly PointStyle[] = [];
  private pale: readonly PointStyle[] = [];
  private order: readonly number[] = []; // sequences, those of one multiset side by side

  key(frame: Frame): string {
    const names = frame.slot.grouped.value.groupNames;
    const longest = Math.max(...names.map((name) => textWidth(name, { size: 9 })));
    this.box = plotBox(frame, Math.min(17 + longest, frame.width * 0.35), 20, 8, 14); // room for the names
    return `${frame.slot.info.embeddings} ${names.join()}`;
  }

  back(pen: Pen, frame: Frame): void {
    const { embeddings } = frame.slot.info;
    if (embeddings <= 2) this.segment(pen, frame);
    else if (embeddings === 3) this.triangle(pen, frame);
    else this.columns(pen, frame);
  }

  front(pen: Pen, frame: Frame): void {
    const { scene } = frame;
    if (!scene) return;
    const sequences = frame.slot.grouped.value;
    if (this.about !== sequences || this.palette !== frame.palette) {
      [this.about, this.palette] = [sequences, frame.palette];
      this.styles = frame.palette.sequences(sequences);
      this.pale = this.styles.map((style) => frame.palette.faded(style));
      const { group, count } = sequences;
      this.order = Array.from({ length: count }, (_, i) => i).sort(
        (a, b) => group[a]! - group[b]! || a - b,
      );
    }
    if (this.xs.length !== sequences.count) {
      this.xs = new Float64Array(sequences.count);
      this.ys = new Float64Array(sequences.count);
    }
    const { embeddings } = frame.slot.info;
    if (embeddings > 3) return this.heat(pen, frame, scene);
    const base = baseOf(frame);
    const before = base && this.placed(frame, base);
    this.place(frame, scene);
    if (before) this.ways(pen, before);
    this.dots(pen, frame, sequences);
  }

  pick(x: number, y: number, frame: Frame): Mark | null {
    let best = -1;
    let least = REACH * REACH;
    for (let i = 0; i < this.xs.length; i++) {
      const dx = frame.slot.info.embeddings > 3 ? 0 : this.xs[i]! - x;
      const far = dx * dx + (this.ys[i]! - y) ** 2;
      if (far < least) [best, least] = [i, far];
    }
    return best < 0 ? null : { slot: frame.slot.index, kind: "sequence", index: best };
  }

  private place(frame: Frame, scene: Scene): void {
    if (frame.slot.info.embeddings === 3) this.onTriangle(frame, scene);
    else this.onSegment(frame, scene);
  }

  /** Where the points of another scene would be. */
  private placed(frame: Frame, scene: Scene): [xs: Float64Array, ys: Float64Array] {
    this.place(frame, scene);
    return [this.xs.slice(), this.ys.slice()];
  }

  /** From where each point was to where it is. */
  private ways(pen: Pen, [xs, ys]: readonly [Float64Array, Float64Array]): void {
    this.styles.forEach(({ fill }, i) =>
      arrow(pen, [xs[i]!, ys[i]!, this.xs[i]!, this.ys[i]!], {
        colour: fill,
        width: 1,
        alpha: 0.55,
      }),
    );
  }

  /** What is faded lies below all else; the sequence under the pointer above, and ringed. */
  private dots(pen: Pen, frame: Frame, sequences: Sequences): void {
    const radius = frame.big ? 5 : 3.4;
    const { mark } = frame;
    const active = activeIn(frame);
    const own = mark?.kind === "sequence" ? mark.index : -1;
    for (const faded of mark ? [true, false] : [false]) {
      const styles = faded ? this.pale : this.styles;
      for (let i = 0; i < sequences.count; i++) {
        if ((marks(mark, "sequence", i, sequences, active) === false) !== faded || i === own)
          continue;
        const { marker, fill } = styles[i]!;
        pen.marker(marker, this.xs[i]!, this.ys[i]!, { fill, radius, alpha: faded ? 1 : 0.85 });
      }
    }
    const style = this.styles[own];
    if (!style) return;
    const ring = frame.palette.colours.ink;
    pen.marker(style.marker, this.xs[own]!, this.ys[own]!, {
      fill: style.fill,
      radius: radius + 1.5,
      ring,
    });
  }

  private row(frame: Frame, group: number, share = 0.5): number {
    const { box } = this;
    return box.y + ((group + share) * box.height) / frame.slot.grouped.value.groupNames.length;
  }

  private names(pen: Pen, frame: Frame): void {
    const { groupNames } = frame.slot.grouped.value;
    const { box } = this;
    const each = Math.ceil(11 / (box.height / groupNames.length));
    for (let g = 0; g < groupNames.length; g += each)
      pen.text(groupNames[g]!, box.x - 9, this.row(frame, g), {
        colour: frame.palette.colours.quiet,
        size: 9,
        anchor: "end",
      });
  }

  private segment(pen: Pen, frame: Frame): void {
    const { box } = this;
    const { colours } = frame.palette;
    const bottom = box.y + box.height;
    for (const p of [0, 0.5, 1]) {
      const x = Math.round(box.x + p * box.width) + 0.5;
      pen.line([x, box.y, x, bottom], {
        colour: p === 0.5 ? colours.faint : colours.grid,
        dash: p === 0.5 ? [3, 3] : [],
      });
      pen.text(String(p), x, bottom + 9, { colour: colours.quiet, size: 9, anchor: "middle" });
    }
    this.names(pen, frame);
  }

  private onSegment(frame: Frame, scene: Scene): void {
    const { group, count, groupNames } = frame.slot.grouped.value;
    const { box } = this;
    const { embeddings } = frame.slot.info;
    const size = new Int32Array(groupNames.length);
    const place = new Int32Array(groupNames.length);
    for (let i = 0; i < count; i++) size[group[i]!]!++;
    for (let i = 0; i < count; i++) {
      const g = group[i]!;
      const share = 0.2 + (0.6 * (place[g]!++ + 0.5)) / size[g]!; // spread, so that equal ones are seen
      this.xs[i] = box.x + (scene.probabilities[i * embeddings + embeddings - 1] ?? 0) * box.width;
      this.ys[i] = this.row(frame, g, share);
    }
  }

  /** Corners of the simplex: class 0 left, 1 right, 2 on top. */
  private corners(frame: Frame): [number, number][] {
    const box = plotBox(frame, 20, 22, 16, 20);
    const side = Math.min(box.width, box.height / SIN60);
    const [cx, top] = [box.x + box.width / 2, box.y + (box.height - side * SIN60) / 2];
    return [
      [cx - side / 2, top + side * SIN60],
      [cx + side / 2, top + side * SIN60],
      [cx, top],
    ];
  }

  private triangle(pen: Pen, frame: Frame): void {
    const corners = this.corners(frame);
    const { colours } = frame.palette;
    const [cx, cy] = [0, 1].map(
      (axis) => corners.reduce((sum, corner) => sum + corner[axis]!, 0) / 3,
    ) as [number, number];
    pen.line([...corners, corners[0]!].flat(), { colour: colours.faint });
    corners.forEach(([x, y], c) => {
      const [ax, ay] = corners[(c + 1) % 3]!;
      pen.line([cx, cy, (x + ax) / 2, (y + ay) / 2], { colour: colours.grid, dash: [3, 3] });
      pen.text(String(c), x + (c === 2 ? 0 : c ? 9 : -9), y + (c === 2 ? -9 : 9), {
        colour: colours.ink,
        bold: true,
        anchor: "middle",
      });
    });
  }

  private onTriangle(frame: Frame, scene: Scene): void {
    const corners = this.corners(frame);
    for (let i = 0; i < this.xs.length; i++) {
      let [x, y] = [0, 0];
      for (let c = 0; c < 3; c++) {
        const p = scene.probabilities[3 * i + c]!;
        x += p * corners[c]![0];
        y += p * corners[c]![1];
      }
      this.xs[i] = x;
      this.ys[i] = y;
    }
  }

  private columns(pen: Pen, frame: Frame): void {
    const { box } = this;
    const { embeddings } = frame.slot.info;
    for (let c = 0; c < embeddings; c++)
      pen.text(String(c), box.x + ((c + 0.5) * box.width) / embeddings, box.y + box.height + 9, {
        colour: frame.palette.colours.quiet,
        size: 9,
        anchor: "middle",
      });
    this.names(pen, frame);
  }

  /** A row for each sequence, those of one multiset side by side; a dot where the target is. */
  private heat(pen: Pen, frame: Frame, scene: Scene): void {
    const sequences = frame.slot.grouped.value;
    const { targets, count } = sequences;
    const { box, order } = this;
    const { embeddings } = frame.slot.info;
    const { colours } = frame.palette;
    const [active, base] = [activeIn(frame), baseOf(frame)];
    const [width, height] = [box.width / embeddings, box.height / count];
    order.forEach((i, r) => {
      const y = box.y + r * height;
      const faded = marks(frame.mark, "sequence", i, sequences, active) === false;
      const alpha = faded ? 0.25 : 1;
      this.ys[i] = y + height / 2;
      for (let c = 0; c < embeddings; c++) {
        const at = i * embeddings + c;
        const change = scene.probabilities[at]! - (base?.probabilities[at] ?? 0);
        const p = Math.abs(change);
        if (p > 0.004)
          pen.rect(
            box.x + c * width,
            y,
            width - 1,
            Math.max(height, 0.6),
            change < 0 ? colours.bad : colours.accent,
            alpha * p,
          );
        if (c === targets[i] && height > 1.5)
          pen.rect(box.x + (c + 0.5) * width - 1, y + height / 2 - 1, 2, 2, colours.query, alpha);
      }
    });
  }
}

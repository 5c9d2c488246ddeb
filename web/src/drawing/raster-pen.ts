// The pen on plain memory. A browser without a GPU takes ten times as long to draw thousands of small
// pictures on canvases as a loop takes to write their pixels; with one, it is as fast.

import type { LineStyle, MarkerStyle, Pen, Shape, TextStyle } from "./pen";
import { blend, word, type Pixels } from "./pixels";
import { markerStamp, PHASES, textStamp, type Stamp } from "./stamps";
import { clippedSegment, dashes } from "./strokes";

export class RasterPen implements Pen {
  private left = 0;
  private top = 0;
  private right: number; // the first column that is not painted
  private bottom: number;

  constructor(
    private readonly out: Pixels,
    private readonly ratio: number,
  ) {
    this.right = out.width;
    this.bottom = out.height;
  }

  rect(x: number, y: number, width: number, height: number, fill: string, alpha = 1): void {
    const { ratio } = this;
    const colour = word(fill);
    const a = Math.round(255 * Math.min(1, alpha));
    if (!colour || a <= 0) return;
    const x0 = Math.max(this.left, Math.round(x * ratio));
    const x1 = Math.min(this.right, Math.round((x + width) * ratio));
    const y1 = Math.min(this.bottom, Math.round((y + height) * ratio));
    const { words, width: stride } = this.out;
    for (let row = Math.max(this.top, Math.round(y * ratio)); row < y1; row++) {
      if (x1 <= x0) return;
      if (a === 255) words.fill(colour, row * stride + x0, row * stride + x1);
      else
        for (let at = row * stride + x0; at < row * stride + x1; at++)
          words[at] = blend(words[at]!, colour, a);
    }
  }

  line(points: ArrayLike<number>, style: LineStyle): void {
    const { width = 1, dash = [], alpha = 1 } = style;
    const colour = word(style.colour);
    if (!colour) return;
    const path = dash.length ? dashes(points, dash) : points;
    const half = (width * this.ratio) / 2;
    for (let i = 0; i + 3 < path.length; i += 2)
      this.segment(
        path[i]! * this.ratio,
        path[i + 1]! * this.ratio,
        path[i + 2]! * this.ratio,
        path[i + 3]! * this.ratio,
        half,
        colour,
        alpha,
      );
  }

  /** A convex polygon. */
  area(points: ArrayLike<number>, fill: string, alpha = 1): void {
    const colour = word(fill);
    const scaled = Array.from(points, (value) => value * this.ratio);
    if (!colour || !scaled.every(Number.isFinite)) return;
    const [xs, ys] = [scaled.filter((_, i) => i % 2 === 0), scaled.filter((_, i) => i % 2 === 1)];
    const turn =
      Math.sign(
        xs.reduce(
          (sum, x, i) => sum + x * ys[(i + 1) % ys.length]! - xs[(i + 1) % xs.length]! * ys[i]!,
          0,
        ),
      ) || 1;
    const [x1, y1] = [
      Math.min(this.right, Math.ceil(Math.max(...xs)) + 1),
      Math.min(this.bottom, Math.ceil(Math.max(...ys)) + 1),
    ];
    for (let y = Math.max(this.top, Math.floor(Math.min(...ys)) - 1); y < y1; y++)
      for (let x = Math.max(this.left, Math.floor(Math.min(...xs)) - 1); x < x1; x++) {
        let cover = 1;
        for (let i = 0; i < xs.length && cover > 0; i++) {
          const j = (i + 1) % xs.length;
          const [ex, ey] = [xs[j]! - xs[i]!, ys[j]! - ys[i]!];
          const depth =
            (turn * (ex * (y + 0.5 - ys[i]!) - ey * (x + 0.5 - xs[i]!))) /
            (Math.hypot(ex, ey) || 1);
          cover = Math.min(cover, depth + 0.5);
        }
        if (cover > 0) this.dot(x, y, colour, cover * alpha);
      }
  }

  circle(x: number, y: number, radius: number, style: LineStyle): void {
    const steps = Math.max(24, Math.min(180, Math.round(radius)));
    const points = Array.from({ length: 2 * steps + 2 }, (_, i) => {
      const angle = (2 * Math.PI * (i >> 1)) / steps;
      return i % 2 ? y + radius * Math.sin(angle) : x + radius * Math.cos(angle);
    });
    this.line(points, style);
  }

  marker(shape: Shape, x: number, y: number, style: MarkerStyle): void {
    if (!Number.isFinite(x + y)) return;
    const [px, py] = [
      Math.round(x * this.ratio * PHASES - PHASES / 2),
      Math.round(y * this.ratio * PHASES - PHASES / 2),
    ];
    const [column, row] = [Math.floor(px / PHASES), Math.floor(py / PHASES)];
    const stamp = markerStamp(shape, style, this.ratio, px - column * PHASES, py - row * PHASES);
    this.stamp(stamp, column, row, style.alpha ?? 1);
  }

  text(text: string, x: number, y: number, style: TextStyle): void {
    this.stamp(
      textStamp(text, style, this.ratio),
      Math.round(x * this.ratio),
      Math.round(y * this.ratio),
      1,
    );
  }

  /** Pixels one to one, where they are as large as their place; else the nearest ones. */
  image(
    { words, width: w, height: h }: Pixels,
    x: number,
    y: number,
    width: number,
    height: number,
  ): void {
    const [x0, y0] = [Math.round(x * this.ratio), Math.round(y * this.ratio)];
    const [across, up] = [Math.round(width * this.ratio), Math.round(height * this.ratio)];
    const [from, to] = [Math.max(this.left, x0), Math.min(this.right, x0 + across)];
    if (to <= from || across <= 0 || up <= 0) return;
    for (let row = Math.max(this.top, y0); row < Math.min(this.bottom, y0 + up); row++) {
      const source = Math.min(h - 1, Math.floor(((row - y0 + 0.5) * h) / up)) * w;
      const target = row * this.out.width;
      if (across === w)
        this.out.words.set(words.subarray(source + from - x0, source + to - x0), target + from);
      else
        for (let i = from; i < to; i++)
          this.out.words[target + i] =
            words[source + Math.min(w - 1, Math.floor(((i - x0 + 0.5) * w) / across))]!;
    }
  }

  clipped(x: number, y: number, width: number, height: number, draw: () => void): void {
    const { left, top, right, bottom, ratio } = this;
    this.left = Math.max(left, Math.round(x * ratio));
    this.top = Math.max(top, Math.round(y * ratio));
    this.right = Math.min(right, Math.round((x + width) * ratio));
    this.bottom = Math.min(bottom, Math.round((y + height) * ratio));
    draw();
    Object.assign(this, { left, top, right, bottom });
  }

  private stamp(
    { words, width, height, left, top }: Stamp,
    column: number,
    row: number,
    alpha: number,
  ): void {
    const [x, y] = [column - left, row - top];
    const [from, to] = [Math.max(0, this.left - x), Math.min(width, this.right - x)];
    const out = this.out.words;
    for (let r = Math.max(0, this.top - y); r < Math.min(height, this.bottom - y); r++) {
      let target = (y + r) * this.out.width + x + from;
      for (let source = r * width + from; source < r * width + to; source++, target++) {
        const colour = words[source]!;
        const a = alpha === 1 ? colour >>> 24 : ((colour >>> 24) * alpha) | 0;
        if (a === 255) out[target] = colour;
        else if (a > 0) out[target] = blend(out[target]!, colour, a);
      }
    }
  }

  /** A straight line with butt ends, softened over a pixel at its sides. */
  private segment(
    ax: number,
    ay: number,
    bx: number,
    by: number,
    half: number,
    colour: number,
    alpha: number,
  ): void {
    if (!Number.isFinite(ax + ay + bx + by)) return;
    const kept = clippedSegment(
      ax,
      ay,
      bx,
      by,
      this.left - 2,
      this.top - 2,
      this.right + 2,
      this.bottom + 2,
    );
    if (!kept) return;
    const [x0, y0, x1, y1] = kept;
    const [dx, dy] = [x1 - x0, y1 - y0];
    const squared = dx * dx + dy * dy;
    if (squared < 1e-6) return;
    const length = Math.sqrt(squared);
    const steep = Math.abs(dy) > Math.abs(dx);
    const [from, to] = steep
      ? [Math.min(y0, y1), Math.max(y0, y1)]
      : [Math.min(x0, x1), Math.max(x0, x1)];
    const reach = ((half + 0.6) * length) / Math.max(Math.abs(dx), Math.abs(dy));
    for (let major = Math.floor(from - half); major <= to + half; major++) {
      const t = steep ? (major + 0.5 - y0) / dy : (major + 0.5 - x0) / dx;
      const middle = steep ? x0 + t * dx : y0 + t * dy;
      for (let minor = Math.floor(middle - reach); minor <= middle + reach; minor++) {
        const x = steep ? minor : major;
        const y = steep ? major : minor;
        const px = x + 0.5 - x0;
        const py = y + 0.5 - y0;
        const along = (px * dx + py * dy) / squared;
        if (along < 0 || along >= 1) continue;
        const cover = half + 0.5 - Math.abs(px * dy - py * dx) / length;
        if (cover > 0) this.dot(x, y, colour, Math.min(1, cover, 2 * half) * alpha);
      }
    }
  }

  private dot(x: number, y: number, colour: number, cover: number): void {
    if (x < this.left || x >= this.right || y < this.top || y >= this.bottom) return;
    const at = y * this.out.width + x;
    this.out.words[at] = blend(this.out.words[at]!, colour, Math.round(255 * Math.min(1, cover)));
  }
}

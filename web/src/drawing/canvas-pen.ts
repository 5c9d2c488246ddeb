// The pen on a canvas, for what is drawn seldom: the time bar and saved pictures.

import { corners } from "./marker-shapes";
import type { LineStyle, MarkerStyle, Pen, Shape, TextStyle } from "./pen";
import { canvasOf, type Pixels } from "./pixels";
import { eachVertex } from "./strokes";
import { paintText } from "./text";

export class CanvasPen implements Pen {
  constructor(private readonly context: CanvasRenderingContext2D) {}

  rect(x: number, y: number, width: number, height: number, fill: string, alpha = 1): void {
    const c = this.context;
    c.globalAlpha = alpha;
    c.fillStyle = fill;
    c.fillRect(x, y, width, height);
    c.globalAlpha = 1;
  }

  line(points: ArrayLike<number>, style: LineStyle): void {
    this.trace(points);
    this.stroke(style);
  }

  area(points: ArrayLike<number>, fill: string, alpha = 1): void {
    this.trace(points);
    this.context.globalAlpha = alpha;
    this.context.fillStyle = fill;
    this.context.fill();
    this.context.globalAlpha = 1;
  }

  circle(x: number, y: number, radius: number, style: LineStyle): void {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.stroke(style);
  }

  marker(shape: Shape, x: number, y: number, style: MarkerStyle): void {
    const c = this.context;
    c.beginPath();
    const points = corners(shape, x, y, style.radius);
    if (points) for (let i = 0; i < points.length; i += 2) c.lineTo(points[i]!, points[i + 1]!);
    else c.arc(x, y, style.radius, 0, 2 * Math.PI);
    c.closePath();
    c.globalAlpha = style.alpha ?? 1;
    c.fillStyle = style.fill;
    c.fill();
    if (style.ring) {
      c.strokeStyle = style.ring;
      c.lineWidth = 1.2;
      c.setLineDash([]);
      c.stroke();
    }
    c.globalAlpha = 1;
  }

  text(text: string, x: number, y: number, style: TextStyle): void {
    const c = this.context;
    c.textAlign = style.anchor === "middle" ? "center" : (style.anchor ?? "start");
    paintText(c, text, x, y, style);
  }

  image(image: Pixels, x: number, y: number, width: number, height: number): void {
    this.context.drawImage(canvasOf(image), x, y, width, height);
  }

  clipped(x: number, y: number, width: number, height: number, draw: () => void): void {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    draw();
    this.context.restore();
  }

  private trace(points: ArrayLike<number>): void {
    const c = this.context;
    c.beginPath();
    eachVertex(points, (x, y, first) => (first ? c.moveTo(x, y) : c.lineTo(x, y)));
  }

  private stroke({ colour, width = 1, dash = [], alpha = 1 }: LineStyle): void {
    const c = this.context;
    c.globalAlpha = alpha;
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.lineJoin = "round";
    c.setLineDash(dash as number[]);
    c.stroke();
    c.globalAlpha = 1;
  }
}

/** A context for a canvas of this many CSS pixels, crisp on any screen; null when it is hidden. */
export function sizedContext(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  opaque = false,
): CanvasRenderingContext2D | null {
  const ratio = devicePixelRatio || 1;
  const w = Math.round(width * ratio);
  const h = Math.round(height * ratio);
  if (w < 2 || h < 2) return null;
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const context = canvas.getContext("2d", { alpha: !opaque });
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

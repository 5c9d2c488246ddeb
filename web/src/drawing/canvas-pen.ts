// The pen on a canvas, for what is drawn seldom: the time bar and saved pictures.

import { corners, font, type MarkerStyle, type Pen, type Shape, type TextStyle } from "./pen";
import { canvasOf, type Pixels } from "./pixels";

export class CanvasPen implements Pen {
  constructor(private readonly context: CanvasRenderingContext2D) {}

  rect(x: number, y: number, width: number, height: number, fill: string, alpha = 1): void {
    const c = this.context;
    c.globalAlpha = alpha;
    c.fillStyle = fill;
    c.fillRect(x, y, width, height);
    c.globalAlpha = 1;
  }

  line(points: ArrayLike<number>, stroke: string, width = 1, dash: number[] = [], alpha = 1): void {
    const c = this.context;
    this.trace(points);
    c.globalAlpha = alpha;
    c.strokeStyle = stroke;
    c.lineWidth = width;
    c.lineJoin = "round";
    c.setLineDash(dash);
    c.stroke();
    c.globalAlpha = 1;
  }

  area(points: ArrayLike<number>, fill: string, alpha = 1): void {
    this.trace(points);
    this.context.globalAlpha = alpha;
    this.context.fillStyle = fill;
    this.context.fill();
    this.context.globalAlpha = 1;
  }

  circle(
    x: number,
    y: number,
    radius: number,
    stroke: string,
    width = 1,
    dash: number[] = [],
  ): void {
    const c = this.context;
    c.beginPath();
    c.arc(x, y, radius, 0, 2 * Math.PI);
    c.strokeStyle = stroke;
    c.lineWidth = width;
    c.setLineDash(dash);
    c.stroke();
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
    c.font = font(style);
    c.textAlign = style.anchor === "middle" ? "center" : (style.anchor ?? "start");
    c.textBaseline = "middle";
    if (style.halo) {
      c.strokeStyle = style.halo;
      c.lineWidth = 3;
      c.lineJoin = "round";
      c.setLineDash([]);
      c.strokeText(text, x, y);
    }
    c.fillStyle = style.colour;
    c.fillText(text, x, y);
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
    let down = false;
    for (let i = 0; i + 1 < points.length; i += 2) {
      const x = points[i] as number;
      const y = points[i + 1] as number;
      if (!(Number.isFinite(x) && Number.isFinite(y))) down = false;
      else if (down) c.lineTo(x, y);
      else {
        c.moveTo(x, y);
        down = true;
      }
    }
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

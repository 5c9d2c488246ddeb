// What panels draw with: one small set of strokes, on a canvas or into an SVG file.

import { FONTS, type Marker } from "../model/theme";
import type { Pixels } from "./pixels";

export type Shape = Marker;

export interface TextStyle {
  colour: string;
  size?: number;
  anchor?: "start" | "middle" | "end";
  bold?: boolean;
  italic?: boolean;
  halo?: string;
}

export interface MarkerStyle {
  fill: string;
  radius: number;
  ring?: string;
  alpha?: number;
}

export interface Pen {
  rect(x: number, y: number, width: number, height: number, fill: string, alpha?: number): void;
  /** A polyline through x0, y0, x1, y1, ...; a NaN lifts the pen. */
  line(
    points: ArrayLike<number>,
    stroke: string,
    width?: number,
    dash?: number[],
    alpha?: number,
  ): void;
  /** A filled polygon; convex. */
  area(points: ArrayLike<number>, fill: string, alpha?: number): void;
  circle(
    x: number,
    y: number,
    radius: number,
    stroke: string,
    width?: number,
    dash?: number[],
  ): void;
  marker(shape: Shape, x: number, y: number, style: MarkerStyle): void;
  text(text: string, x: number, y: number, style: TextStyle): void;
  image(image: Pixels, x: number, y: number, width: number, height: number): void;
  clipped(x: number, y: number, width: number, height: number, draw: () => void): void;
}

export const FONT = FONTS.text;

/** Corners of a marker around the origin at radius 1; null for a circle. All have about one area. */
const CORNERS: Record<Shape, number[] | null> = {
  circle: null,
  square: [-0.88, -0.88, 0.88, -0.88, 0.88, 0.88, -0.88, 0.88],
  triangle: [0, -1.25, 1.15, 0.8, -1.15, 0.8],
  "triangle-down": [0, 1.25, 1.15, -0.8, -1.15, -0.8],
  diamond: [0, -1.3, 1.3, 0, 0, 1.3, -1.3, 0],
  plus: [
    -0.4, -1.2, 0.4, -1.2, 0.4, -0.4, 1.2, -0.4, 1.2, 0.4, 0.4, 0.4, 0.4, 1.2, -0.4, 1.2, -0.4, 0.4,
    -1.2, 0.4, -1.2, -0.4, -0.4, -0.4,
  ],
  star: spokes(5, 1.4, 0.6),
  cross: turned([
    -0.4, -1.2, 0.4, -1.2, 0.4, -0.4, 1.2, -0.4, 1.2, 0.4, 0.4, 0.4, 0.4, 1.2, -0.4, 1.2, -0.4, 0.4,
    -1.2, 0.4, -1.2, -0.4, -0.4, -0.4,
  ]),
  hexagon: spokes(3, 1.1, 1.1),
  pentagon: spokes(5, 1.15, 0.93),
};

function spokes(count: number, outer: number, inner: number): number[] {
  const points: number[] = [];
  for (let i = 0; i < 2 * count; i++) {
    const angle = (Math.PI * i) / count - Math.PI / 2;
    const radius = i % 2 ? inner : outer;
    points.push(radius * Math.cos(angle), radius * Math.sin(angle));
  }
  return points;
}

function turned(points: number[]): number[] {
  const half = Math.SQRT1_2;
  return points.map((value, i) =>
    i % 2 ? half * ((points[i - 1] ?? 0) + value) : half * (value - (points[i + 1] ?? 0)),
  );
}

export function corners(shape: Shape, x: number, y: number, radius: number): number[] | null {
  const unit = CORNERS[shape];
  return unit && unit.map((value, i) => value * radius + (i % 2 ? y : x));
}

export const font = (style: Omit<TextStyle, "colour">): string =>
  `${style.italic ? "italic " : ""}${style.bold ? "600 " : ""}${style.size ?? 10}px ${FONT}`;

const widths = new Map<string, number>();
let ruler: CanvasRenderingContext2D | null = null;

/** The width of a text in pixels, measured once. */
export function textWidth(text: string, style: Omit<TextStyle, "colour">): number {
  const key = `${font(style)} ${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  ruler ??= document.createElement("canvas").getContext("2d");
  if (!ruler) return text.length * (style.size ?? 10) * 0.6;
  ruler.font = font(style);
  const { width } = ruler.measureText(text);
  if (widths.size > 5000) widths.clear();
  widths.set(key, width);
  return width;
}

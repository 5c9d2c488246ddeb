// What panels draw with: one small set of strokes, on a canvas or into an SVG file.

import type { Marker } from "../model/theme";
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

export interface LineStyle {
  colour: string;
  width?: number; // 1 unless told
  dash?: readonly number[]; // lengths drawn and left out in turn; a whole line unless told
  alpha?: number;
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
  line(points: ArrayLike<number>, style: LineStyle): void;
  /** A filled polygon; convex. */
  area(points: ArrayLike<number>, fill: string, alpha?: number): void;
  circle(x: number, y: number, radius: number, style: LineStyle): void;
  marker(shape: Shape, x: number, y: number, style: MarkerStyle): void;
  text(text: string, x: number, y: number, style: TextStyle): void;
  image(image: Pixels, x: number, y: number, width: number, height: number): void;
  clipped(x: number, y: number, width: number, height: number, draw: () => void): void;
}

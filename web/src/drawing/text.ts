// Texts on a canvas: their font, their width, and how they are painted.

import { FONTS } from "../model/theme";
import type { TextStyle } from "./pen";

export const FONT = FONTS.text;

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

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

/** Paints a text around the height `y`, its halo below it. */
export function paintText(c: Context, text: string, x: number, y: number, style: TextStyle): void {
  c.font = font(style);
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

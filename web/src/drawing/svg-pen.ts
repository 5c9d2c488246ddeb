// The pen that writes an SVG file, so that a saved panel stays sharp and editable.

import type { Box } from "./axes";
import { corners } from "./marker-shapes";
import type { LineStyle, MarkerStyle, Pen, Shape, TextStyle } from "./pen";
import { canvasOf, type Pixels } from "./pixels";
import { eachVertex } from "./strokes";
import { FONT } from "./text";

type Attributes = Record<string, string | number>;

const number = (value: number): string => String(Math.round(value * 100) / 100);

const escape = (text: string): string => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

export class SvgPen implements Pen {
  private readonly parts: string[] = [];
  private clips = 0;

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {}

  rect(x: number, y: number, width: number, height: number, fill: string, alpha = 1): void {
    this.add("rect", { x, y, width, height, fill, opacity: alpha });
  }

  line(points: ArrayLike<number>, style: LineStyle): void {
    this.add("path", { d: path(points), "stroke-linejoin": "round", ...strokeOf(style) });
  }

  area(points: ArrayLike<number>, fill: string, alpha = 1): void {
    this.add("path", { d: `${path(points)}Z`, fill, opacity: alpha });
  }

  circle(x: number, y: number, radius: number, style: LineStyle): void {
    this.add("circle", { cx: x, cy: y, r: radius, ...strokeOf(style) });
  }

  marker(shape: Shape, x: number, y: number, style: MarkerStyle): void {
    const look = { fill: style.fill, stroke: style.ring ?? "", opacity: style.alpha ?? 1 };
    const points = corners(shape, x, y, style.radius);
    if (points) this.add("path", { d: `${path(points)}Z`, ...look });
    else this.add("circle", { cx: x, cy: y, r: style.radius, ...look });
  }

  text(text: string, x: number, y: number, style: TextStyle): void {
    const attributes = {
      x,
      y,
      fill: style.colour,
      "font-family": FONT,
      "font-size": style.size ?? 10,
      "text-anchor": style.anchor ?? "start",
      "dominant-baseline": "central",
      "font-weight": style.bold ? 600 : "",
      "font-style": style.italic ? "italic" : "",
      stroke: style.halo ?? "",
      "stroke-width": style.halo ? 3 : "",
      "paint-order": style.halo ? "stroke" : "",
      "stroke-linejoin": style.halo ? "round" : "",
    };
    this.add("text", attributes, escape(text));
  }

  image(image: Pixels, x: number, y: number, width: number, height: number): void {
    this.add("image", {
      x,
      y,
      width,
      height,
      preserveAspectRatio: "none",
      href: canvasOf(image).toDataURL(),
    });
  }

  clipped(x: number, y: number, width: number, height: number, draw: () => void): void {
    const id = `clip${++this.clips}`;
    this.parts.push(`<clipPath id="${id}">`);
    this.add("rect", { x, y, width, height });
    this.parts.push(`</clipPath><g clip-path="url(#${id})">`);
    draw();
    this.parts.push("</g>");
  }

  /** Draws into a box whose corner is the origin, larger by `scale`, and nothing outside of it. */
  within({ x, y, width, height }: Box, scale: number, draw: () => void): void {
    this.parts.push(`<g transform="translate(${number(x)} ${number(y)}) scale(${number(scale)})">`);
    this.clipped(0, 0, width / scale, height / scale, draw);
    this.parts.push("</g>");
  }

  toString(): string {
    const { width, height } = this;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">\n${this.parts.join("\n")}\n</svg>\n`;
  }

  private add(tag: string, attributes: Attributes, content = ""): void {
    const written = Object.entries(attributes)
      .filter(([name, value]) => value !== "" && !(name === "opacity" && value === 1))
      .map(
        ([name, value]) => `${name}="${typeof value === "number" ? number(value) : escape(value)}"`,
      );
    this.parts.push(`<${tag} ${written.join(" ")}>${content}</${tag}>`);
  }
}

function strokeOf({ colour, width = 1, dash = [], alpha = 1 }: LineStyle): Attributes {
  return {
    fill: "none",
    stroke: colour,
    "stroke-width": width,
    "stroke-dasharray": dash.join(" "),
    opacity: alpha,
  };
}

function path(points: ArrayLike<number>): string {
  let d = "";
  eachVertex(points, (x, y, first) => (d += `${first ? "M" : "L"}${number(x)} ${number(y)}`));
  return d;
}

// Markers and texts, made once and stamped after: thousands move in a frame.

import { corners } from "./marker-shapes";
import type { MarkerStyle, Shape, TextStyle } from "./pen";
import { newPixels, word, type Pixels } from "./pixels";
import { paintText, textWidth } from "./text";

const MOST = 4000; // then all are forgotten: numbers that change would fill the memory
const SAMPLES = 4; // of a pixel, across and up
export const PHASES = 2; // places within a pixel, across and up: points glide instead of hopping

/** A small picture with alpha, and where its anchor lies in it. */
export interface Stamp extends Pixels {
  left: number;
  top: number;
}

const markers = new Map<number, Stamp>();
const numbers = new Map<string | number, number>();

/** A small number for a name: keys of numbers are found faster than keys of text. */
function numberOf(name: string | number): number {
  let number = numbers.get(name);
  if (number === undefined) numbers.set(name, (number = numbers.size));
  return number;
}

/** A marker at a place within a pixel, in device pixels. */
export function markerStamp(
  shape: Shape,
  style: MarkerStyle,
  ratio: number,
  phaseX: number,
  phaseY: number,
): Stamp {
  const look = (numberOf(shape) * 4096 + numberOf(style.fill)) * 4096 + numberOf(style.ring ?? "");
  const key = (look * 4096 + numberOf(style.radius * ratio)) * 4 + phaseX * PHASES + phaseY;
  const known = markers.get(key);
  if (known) return known;
  if (markers.size > MOST) markers.clear();
  const made = makeMarker(shape, style, ratio, phaseX / PHASES, phaseY / PHASES);
  markers.set(key, made);
  return made;
}

function makeMarker(
  shape: Shape,
  style: MarkerStyle,
  ratio: number,
  dx: number,
  dy: number,
): Stamp {
  const cover = coverOf(shape, style.radius * ratio, style.ring ? 0.6 * ratio : 0, dx, dy);
  const stamp = { ...newPixels(cover.width, cover.width), left: cover.half, top: cover.half };
  const [fill, ring] = [word(style.fill), word(style.ring ?? "")];
  for (let i = 0; i < stamp.words.length; i++)
    stamp.words[i] = mixed(fill, cover.inner[i]!, ring, cover.outer[i]!);
  return trimmed(stamp);
}

/** How many samples of each pixel lie inside a marker, and how many on its rim. */
interface Cover {
  width: number;
  half: number;
  inner: Uint8Array;
  outer: Uint8Array;
}

const covers = new Map<string, Cover>();

/** It takes long, but is the same for all colours. */
function coverOf(shape: Shape, radius: number, rim: number, dx: number, dy: number): Cover {
  const key = `${shape} ${radius} ${rim} ${dx} ${dy}`;
  const known = covers.get(key);
  if (known) return known;
  if (covers.size > MOST) covers.clear();
  const half = Math.ceil(radius * 1.4 + rim + 1);
  const width = 2 * half + 1;
  const made = {
    width,
    half,
    inner: new Uint8Array(width * width),
    outer: new Uint8Array(width * width),
  };
  const outline = corners(shape, 0, 0, radius);
  for (let i = 0; i < width * width; i++)
    for (let s = 0; s < SAMPLES * SAMPLES; s++) {
      const x = (i % width) - half - dx + ((s % SAMPLES) + 0.5) / SAMPLES - 0.5;
      const y = Math.floor(i / width) - half - dy + (Math.floor(s / SAMPLES) + 0.5) / SAMPLES - 0.5;
      const depth = outline ? polygonDepth(outline, x, y) : radius - Math.sqrt(x * x + y * y);
      if (depth >= rim) made.inner[i]!++;
      else if (depth >= -rim) made.outer[i]!++;
    }
  covers.set(key, made);
  return made;
}

/** Without the empty rows and columns around: most of a stamp's cost is its size. */
function trimmed({ words, width, height, left, top }: Stamp): Stamp {
  let [x0, x1, y0, y1] = [width, 0, height, 0];
  for (let i = 0; i < width * height; i++) {
    if (!(words[i]! >>> 24)) continue;
    const [x, y] = [i % width, Math.floor(i / width)];
    [x0, x1, y0, y1] = [Math.min(x0, x), Math.max(x1, x + 1), Math.min(y0, y), Math.max(y1, y + 1)];
  }
  if (x1 <= x0) return { ...newPixels(0, 0), left: 0, top: 0 };
  const out = { ...newPixels(x1 - x0, y1 - y0), left: left - x0, top: top - y0 };
  for (let row = 0; row < out.height; row++)
    out.words.set(
      words.subarray((y0 + row) * width + x0, (y0 + row) * width + x1),
      row * out.width,
    );
  return out;
}

/** How deep a point lies inside a polygon; outside, minus its distance. */
function polygonDepth(points: readonly number[], x: number, y: number): number {
  let [inside, least] = [false, Infinity];
  for (let i = 0, j = points.length - 2; i < points.length; j = i, i += 2) {
    const [ax, ay, bx, by] = [points[i]!, points[i + 1]!, points[j]!, points[j + 1]!];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
    const [ex, ey] = [bx - ax, by - ay];
    const along = Math.max(0, Math.min(1, ((x - ax) * ex + (y - ay) * ey) / (ex * ex + ey * ey)));
    const [dx, dy] = [x - ax - along * ex, y - ay - along * ey];
    least = Math.min(least, dx * dx + dy * dy);
  }
  return inside ? Math.sqrt(least) : -Math.sqrt(least);
}

/** One pixel of so many samples of each colour. */
function mixed(fill: number, inner: number, ring: number, outer: number): number {
  const total = inner + outer;
  if (!total) return 0;
  const channel = (shift: number): number =>
    Math.round((((fill >>> shift) & 0xff) * inner + ((ring >>> shift) & 0xff) * outer) / total);
  const alpha = Math.round((255 * total) / (SAMPLES * SAMPLES));
  return ((alpha << 24) | (channel(16) << 16) | (channel(8) << 8) | channel(0)) >>> 0;
}

const texts = new Map<string, Stamp>();
const EDGE = 3; // CSS pixels around a text, for its halo

/** A text in device pixels, painted by the browser. */
export function textStamp(text: string, style: TextStyle, ratio: number): Stamp {
  const key = `${text}|${style.colour}|${style.size ?? 10}${style.bold ? "b" : ""}${style.italic ? "i" : ""}${style.anchor ?? ""}|${style.halo ?? ""}|${ratio}`;
  const known = texts.get(key);
  if (known) return known;
  if (texts.size > MOST) texts.clear();
  const made = makeText(text, style, ratio);
  texts.set(key, made);
  return made;
}

function makeText(text: string, style: TextStyle, ratio: number): Stamp {
  const inner = textWidth(text, style);
  const half = Math.ceil((style.size ?? 10) * 0.8) + EDGE;
  const [width, height] = [Math.ceil((inner + 2 * EDGE) * ratio), Math.ceil(2 * half * ratio)];
  const c = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  const shift = style.anchor === "middle" ? inner / 2 : style.anchor === "end" ? inner : 0;
  const place = { left: Math.round((EDGE + shift) * ratio), top: Math.round(half * ratio) };
  if (!c) return { ...newPixels(1, 1), ...place };
  c.scale(ratio, ratio);
  paintText(c, text, EDGE, half, style);
  const words = new Uint32Array(c.getImageData(0, 0, width, height).data.buffer);
  return trimmed({ words, width, height, ...place });
}

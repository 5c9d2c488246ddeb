// Colour arithmetic: sRGB hex <-> Oklab (Björn Ottosson's perceptual space), WCAG contrast.

export type Triple = readonly [number, number, number];

/** Red, green, blue from 0 to 255. */
export function rgb(hex: string): Triple {
  const value = parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

export function hex(colour: Triple): string {
  const [r, g, b] = colour.map((part) => Math.min(255, Math.max(0, Math.round(part))));
  return `#${((r! << 16) | (g! << 8) | b!).toString(16).padStart(6, "0")}`;
}

/** WCAG 2's contrast ratio, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/** Between two colours, evenly to the eye. */
export function mix(a: string, b: string, share: number): string {
  const [from, to] = [lab(a), lab(b)];
  return unlab([0, 1, 2].map((i) => from[i]! + (to[i]! - from[i]!) * share) as unknown as Triple);
}

/** A place from 0 to 1 on a ramp of evenly spaced stops. */
export function ramp(stops: readonly string[], place: number): string {
  const at = Math.min(1, Math.max(0, place)) * (stops.length - 1);
  const below = Math.min(Math.floor(at), Math.max(0, stops.length - 2));
  return mix(stops[below]!, stops[below + 1] ?? stops[below]!, at - below);
}

/** Lightness (0 to 1), chroma, hue in turns; out of gamut, chroma gives way. */
export function lch(lightness: number, chroma: number, hue: number): string {
  for (let c = chroma; ; c -= 0.01) {
    const [a, b] = [c * Math.cos(2 * Math.PI * hue), c * Math.sin(2 * Math.PI * hue)];
    const parts = linear([lightness, a, b]);
    if (c <= 0.01 || parts.every((part) => part >= -0.001 && part <= 1.001))
      return unlab([lightness, a, b]);
  }
}

/** The colour with its lightness changed by so much. */
export function lighter(colour: string, by: number): string {
  const [l, a, b] = lab(colour);
  return lch(Math.min(1, Math.max(0, l + by)), Math.hypot(a, b), Math.atan2(b, a) / (2 * Math.PI));
}

/** The colour, moved away from the background until it has this contrast with it. */
export function readable(colour: string, background: string, least: number): string {
  const step = luminance(background) > 0.18 ? -0.01 : 0.01;
  let out = colour;
  for (let i = 1; i <= 100 && contrast(out, background) < least; i++)
    out = lighter(colour, step * i);
  return out;
}

function luminance(colour: string): number {
  const [r, g, b] = rgb(colour).map(expand) as unknown as Triple;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function expand(part: number): number {
  const x = part / 255;
  return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
}

function compress(x: number): number {
  return 255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055);
}

function lab(colour: string): Triple {
  const [r, g, b] = rgb(colour).map(expand) as unknown as Triple;
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function linear([L, a, b]: Triple): Triple {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

function unlab(colour: Triple): string {
  return hex(linear(colour).map((x) => compress(Math.min(1, Math.max(0, x)))) as unknown as Triple);
}

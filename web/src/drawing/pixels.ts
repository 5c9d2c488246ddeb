// Pictures as plain numbers: one 32-bit word 0xAABBGGRR for each pixel, row by row.

export interface Pixels<Memory extends ArrayBufferLike = ArrayBufferLike> {
  words: Uint32Array<Memory>;
  width: number;
  height: number;
}

const parsed = new Map<string, number>();

/** A colour #rrggbb as an opaque word; 0, which draws nothing, for anything else. */
export function word(colour: string): number {
  const known = parsed.get(colour);
  if (known !== undefined) return known;
  const value = /^#[0-9a-f]{6}$/i.test(colour) ? parseInt(colour.slice(1), 16) : null;
  const made = value === null ? 0 : pack(value >> 16, (value >> 8) & 0xff, value & 0xff);
  parsed.set(colour, made);
  return made;
}

export const pack = (r: number, g: number, b: number): number =>
  (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;

/** `above` over `below` with an alpha of 0 to 255; both opaque. */
export function blend(below: number, above: number, alpha: number): number {
  const a = alpha + (alpha >> 7); // to 256, so that a shift divides
  const b = 256 - a;
  const ends = (((above & 0xff00ff) * a + (below & 0xff00ff) * b) >>> 8) & 0xff00ff;
  const middle = (((above >>> 8) & 0xff) * a + ((below >>> 8) & 0xff) * b) & 0xff00;
  return (0xff000000 | ends | middle) >>> 0;
}

export function newPixels(width: number, height: number): Pixels<ArrayBuffer> {
  return { words: new Uint32Array(width * height), width, height };
}

/** A canvas that shows the pixels, for who needs one. */
export function canvasOf({ words, width, height }: Pixels): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const data = new ImageData(width, height);
  new Uint32Array(data.data.buffer).set(words.subarray(0, width * height));
  canvas.getContext("2d")?.putImageData(data, 0, 0);
  return canvas;
}

// SHA-256 (FIPS 180-4), since browsers have theirs only where a page came over an encrypted line, and
// only for those who can wait.

import type { Numbers } from "../types";

const primes = Array.from({ length: 312 }, (_, i) => i + 2).filter((n) => {
  for (let d = 2; d * d <= n; d++) if (n % d === 0) return false;
  return true;
});
const fraction = (x: number): number => ((x - Math.floor(x)) * 2 ** 32) | 0;
const ROUNDS = Int32Array.from(primes.slice(0, 64), (p) => fraction(Math.cbrt(p)));
const START = Int32Array.from(primes.slice(0, 8), (p) => fraction(Math.sqrt(p)));

const turned = (x: number, by: number): number => (x >>> by) | (x << (32 - by));

/** In hexadecimal. */
export function sha256(bytes: Uint8Array): string {
  const padded = new Uint8Array((((bytes.length + 8) >> 6) + 1) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  const [hash, words] = [START.slice(), new Int32Array(64)];
  for (let at = 0; at < padded.length; at += 64) block(hash, words, view, at);
  return Array.from(hash, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

function block(hash: Int32Array, words: Int32Array, view: DataView, at: number): void {
  for (let i = 0; i < 16; i++) words[i] = view.getInt32(at + 4 * i);
  for (let i = 16; i < 64; i++) {
    const [early, late] = [words[i - 15]!, words[i - 2]!];
    const s0 = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
    const s1 = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
    words[i] = words[i - 16]! + s0 + words[i - 7]! + s1;
  }
  let [a, b, c, d, e, f, g, h] = hash as unknown as [
    ...[number, number, number, number, number, number, number, number],
  ];
  for (let i = 0; i < 64; i++) {
    const s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUNDS[i]! + words[i]!) | 0;
    const s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (hash[i] = hash[i]! + word));
}

/** The hash by which Python names weights that were given. */
export function fingerprint(weights: Numbers): string {
  const { buffer, byteOffset, byteLength } = weights;
  return sha256(new Uint8Array(buffer, byteOffset, byteLength)).slice(0, 20);
}

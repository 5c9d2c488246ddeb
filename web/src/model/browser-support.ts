// What the kernel needs of a browser: asked by the page at once, and by who loads the kernel.

// A function that returns a vector, which a browser without SIMD does not accept:
// header; type () -> v128; one function; its body: i32.const 0, i8x16.splat, end.
const SIMD_MODULE = [
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b],
  ...[0x03, 0x02, 0x01, 0x00],
  ...[0x0a, 0x08, 0x01, 0x06, 0x00, 0x41, 0x00, 0xfd, 0x0f, 0x0b],
];

/** The first versions that have all that the page uses. */
export const BROWSERS = "Chrome or Edge 100, Firefox 113, Safari 16.4, or a later one";

/** A sentence when this browser cannot run the kernel, or null. */
export function unsupported(): string | null {
  if (typeof WebAssembly === "object" && WebAssembly.validate(Uint8Array.from(SIMD_MODULE)))
    return null;
  return "This browser has no WebAssembly SIMD, which the kernel needs; " + `use ${BROWSERS}.`;
}

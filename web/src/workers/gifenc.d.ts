// The part of gifenc that is used here; the package has no types of its own.

declare module "gifenc" {
  interface Encoder {
    writeHeader(): void;
    writeFrame(
      indices: Uint8Array,
      width: number,
      height: number,
      options: {
        first: boolean;
        palette?: number[][];
        transparent: boolean;
        transparentIndex: number;
        delay: number; // milliseconds
        dispose: number;
      },
    ): void;
    finish(): void;
    bytes(): Uint8Array<ArrayBuffer>;
    reset(): void;
  }
  export function GIFEncoder(options: { auto: boolean }): Encoder;
  export function quantize(
    rgba: Uint8ClampedArray,
    most: number,
    options: { format: "rgb565" },
  ): number[][];
}

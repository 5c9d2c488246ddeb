// What makes a file of frames.

import type { Pixels } from "../drawing/pixels";

export interface FilmWriter {
  /** Takes a frame, whose pixels may be painted over once this comes true. */
  add(frame: Pixels<ArrayBuffer>): Promise<void>;
  finish(): Promise<void>;
  cancel(): void;
}

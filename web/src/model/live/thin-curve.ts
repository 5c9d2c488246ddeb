// A curve of any length as no more points than a small picture shows, made while it grows: of each few
// epochs the lowest and the highest value, in the order in which they came. Spikes stay, and a curve
// that is short enough is whole.

export const MOST_POINTS = 256;

/** Epochs that two points stand for. */
const spanOf = (epochs: number): number => Math.max(2, Math.ceil((epochs + 1) / (MOST_POINTS / 2)));

/** Where a point of a curve to so many epochs lies. */
export function pointEpoch(point: number, epochs: number): number {
  const span = spanOf(epochs);
  const epoch = Math.floor(point / 2) * span + (point % 2) * Math.floor(span / 2);
  return Math.min(epoch, epochs); // of the last few epochs there may be fewer
}

export class ThinCurve {
  private readonly span: number;
  private readonly held = new Float32Array(MOST_POINTS);
  private count = 0;
  private low = { value: NaN, epoch: 0 };
  private high = { value: NaN, epoch: 0 };

  /** Of a run of so many epochs, and what comes before the first. */
  constructor(epochs: number) {
    this.span = spanOf(epochs);
  }

  /** Epochs come one after the other, from 0 on. */
  add(epoch: number, value: number): void {
    const first = epoch % this.span === 0;
    if (first) this.low = this.high = { value: NaN, epoch };
    if (value < this.low.value || Number.isNaN(this.low.value)) this.low = { value, epoch };
    if (value > this.high.value || Number.isNaN(this.high.value)) this.high = { value, epoch };
    const rising = this.low.epoch <= this.high.epoch;
    const at = 2 * Math.floor(epoch / this.span);
    this.held[at] = (rising ? this.low : this.high).value;
    this.held[at + 1] = (rising ? this.high : this.low).value;
    this.count = at + (first ? 1 : 2);
  }

  /** A copy. */
  get points(): Float32Array<ArrayBuffer> {
    return this.held.slice(0, this.count);
  }
}

// Which epoch each frame of a film shows, and how large the film is. Only numbers: the same film is
// made in the page and from the command line.

export interface FilmSpan {
  from: number; // epochs, both shown
  to: number;
  every: number; // epochs from frame to frame; less than 1 repeats frames
  slow: number; // how many times slower around spikes; 1: no slower
}

/** What a film is slowed down around. */
export interface SlowStretch {
  start: number;
  peak: number;
}

const AROUND = 8; // epochs before a spike begins and after its peak

/** The epochs in the order of the frames, rising. `canShow` says of which epochs there are weights:
 * where there are none, the nearest before stands in, and is not shown twice for that. */
export function filmEpochs(
  span: FilmSpan,
  spikes: readonly SlowStretch[] = [],
  canShow: (epoch: number) => boolean = () => true,
): number[] {
  const frames: number[] = [];
  let [known, next] = [-1, span.from]; // the last epoch that can be shown; the next to ask about
  for (const wanted of scheduled(span, spikes)) {
    for (; next <= wanted; next++) if (canShow(next)) known = next;
    if (known >= 0 && (known === wanted || known !== frames.at(-1))) frames.push(known);
  }
  return frames;
}

function* scheduled({ from, to, every, slow }: FilmSpan, spikes: readonly SlowStretch[]) {
  let last = -1;
  for (let at = from; Math.floor(at) <= to;) {
    yield (last = Math.floor(at));
    at += isNearSpike(last, spikes) ? every / slow : every;
    at = Math.round(at * 1e6) / 1e6; // thirds and tenths do not fall short of whole epochs
  }
  if (last < to) yield to;
}

function isNearSpike(epoch: number, spikes: readonly SlowStretch[]): boolean {
  return spikes.some(({ start, peak }) => epoch >= start - AROUND && epoch < peak + AROUND);
}

/** Hundredths of a second for each frame of a GIF, which knows no other times: rounded so that no
 * error adds up. */
export function gifDelay(index: number, fps: number): number {
  const at = (i: number): number => Math.round((100 * i) / fps);
  return at(index + 1) - at(index);
}

/** Players show GIFs slowly whose frames are shorter than this. */
export const MOST_GIF_FPS = 50;

const USUAL = { width: 1280, height: 720 }; // the size at which letters are as large as on a page
const MOST_RATIO = 3;

/** A film of so many pixels, in the units of a page; both even, as encoders want them. */
export function filmSize(
  across: number,
  down: number,
): { width: number; height: number; ratio: number } {
  const [w, h] = [even(across), even(down)];
  const ratio = Math.max(1, Math.min(MOST_RATIO, w / USUAL.width, h / USUAL.height));
  return { width: w / ratio, height: h / ratio, ratio };
}

export const even = (pixels: number): number => 2 * Math.round(pixels / 2);

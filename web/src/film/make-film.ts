// A film of the stage: every frame drawn, in order, each at its own epoch. How long that takes has no
// part in it: axes glide by the film's own time.

import type { Pixels } from "../drawing/pixels";
import { ReadableError } from "../model/errors";
import type { FilmSpan } from "../model/film/film-plan";
import { slotEpoch, type Slot } from "../state/page-state";
import { StageComposer } from "../stage/stage-composer";
import type { StageSize } from "../stage/stage-layout";
import { stageView } from "../stage/stage-picture";
import { StageRaster } from "../stage/stage-raster";
import { StageSlots } from "../stage/stage-slots";
import { framesOf } from "./film-frames";
import type { FilmSink } from "./film-sinks";
import type { FilmWriter } from "./film-writer";
import { GifWriter } from "./gif-writer";
import type { VideoFormat } from "./video-codecs";
import { VideoWriter } from "./video-writer";

export interface FilmOptions extends FilmSpan {
  fps: number;
  size: StageSize;
  format: VideoFormat | "gif";
}

export type FilmReport = (frames: number, of: number) => void;

const PALETTE_FRAMES = 8; // from all over the film, from which a GIF's colours are chosen

/** Makes the film of what is on the page now, and puts it into the sink. */
export async function makeFilm(
  options: FilmOptions,
  sink: FilmSink,
  report: FilmReport,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const runs = await StageSlots.open();
  signal.addEventListener("abort", () => runs.close());
  let writer: FilmWriter | null = null;
  try {
    const epochs = framesOf(options, runs.all);
    if (!epochs.length)
      throw new ReadableError(
        `No epoch from ${options.from} to ${options.to} has weights: choose others.`,
      );
    writer = await writerOf(options, sink, runs, epochs);
    await record(options, runs, epochs, writer, report, signal);
    await writer.finish();
    await sink.finish();
  } catch (error) {
    writer?.cancel();
    await sink.cancel();
    throw signal.aborted ? signal.reason : error;
  } finally {
    runs.close();
  }
}

async function record(
  options: FilmOptions,
  runs: StageSlots,
  epochs: readonly number[],
  writer: FilmWriter,
  report: FilmReport,
  signal: AbortSignal,
): Promise<void> {
  const composer = new StageComposer(stageView(runs.all), options.size);
  const raster = new StageRaster(composer);
  for (const [i, epoch] of epochs.entries()) {
    const moment = { epoch, time: (1000 * i) / options.fps };
    await runs.show(epoch, () => composer.settle(moment), epochs[i + 1] ?? null);
    signal.throwIfAborted();
    checkExact(runs.all, epoch);
    await writer.add(raster.draw(moment));
    report(i + 1, epochs.length);
    signal.throwIfAborted();
  }
}

/** It may turn out only now that an epoch cannot be computed again. */
function checkExact(slots: readonly Slot[], playhead: number): void {
  for (const slot of slots) {
    const wanted = slotEpoch(slot, playhead);
    if (slot.scene.value?.epoch !== wanted)
      throw new ReadableError(
        `The weights of epoch ${wanted} were not kept, and they cannot be computed again: choose ` +
          "epochs that were kept.",
      );
  }
}

async function writerOf(
  { format, fps, size }: FilmOptions,
  sink: FilmSink,
  runs: StageSlots,
  epochs: readonly number[],
): Promise<FilmWriter> {
  if (format !== "gif") return VideoWriter.open(format, sink, fps, epochs.length);
  return new GifWriter(sink, fps, await samplesOf(runs, size, epochs));
}

/** A few frames from all over the film, each by itself. */
async function samplesOf(
  runs: StageSlots,
  size: StageSize,
  epochs: readonly number[],
): Promise<Pixels<ArrayBuffer>[]> {
  const composer = new StageComposer(stageView(runs.all), size);
  const raster = new StageRaster(composer);
  const count = Math.min(PALETTE_FRAMES, epochs.length);
  const samples: Pixels<ArrayBuffer>[] = [];
  for (let i = 0; i < count; i++) {
    const epoch = epochs[Math.floor((i * (epochs.length - 1)) / Math.max(1, count - 1))]!;
    const moment = { epoch, time: 1e6 * i }; // axes have long arrived
    await runs.show(epoch, () => composer.settle(moment));
    const { words, width, height } = raster.draw(moment);
    samples.push({ words: words.slice(), width, height });
  }
  return samples;
}

// Frames in, a GIF out. The encoding is a worker's: it takes longer than the drawing.

import type { Pixels } from "../drawing/pixels";
import { gifDelay } from "../model/film/film-plan";
import type { FilmSink } from "./film-sinks";
import type { FilmWriter } from "./film-writer";
import type { FromGifWorker, ToGifWorker } from "../workers/gif-protocol";
import { newWorker } from "../workers/worker-scripts";

const MOST_QUEUED = 3; // frames that wait for the worker

export class GifWriter implements FilmWriter {
  private readonly worker = newWorker("gif");
  private given = 0;
  private place = 0; // in the file
  private failed: Error | null = null;
  private pending = 0;
  private answered: (() => void) | null = null;

  /** `samples`: frames whose colours the film has. */
  constructor(
    private readonly sink: FilmSink,
    private readonly fps: number,
    samples: Pixels<ArrayBuffer>[],
  ) {
    this.worker.onmessage = ({ data }: MessageEvent<FromGifWorker>) => this.receive(data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.failed = new Error(`The GIF could not be encoded: ${event.message}.`);
      this.answered?.();
    };
    const message = { type: "palette", samples } satisfies ToGifWorker;
    this.send(
      message,
      samples.map(({ words }) => words.buffer),
    );
  }

  async add({ words, width, height }: Pixels<ArrayBuffer>): Promise<void> {
    const frame = { words: words.slice(), width, height };
    const delay = gifDelay(this.given++, this.fps);
    this.send({ type: "frame", frame, delay }, [frame.words.buffer]);
    await this.fewerThan(MOST_QUEUED);
    await this.sink.ready();
  }

  async finish(): Promise<void> {
    this.send({ type: "finish" }, []);
    await this.fewerThan(1);
    this.worker.terminate();
  }

  cancel(): void {
    this.worker.terminate();
  }

  private send(message: ToGifWorker, transfer: Transferable[]): void {
    this.pending++;
    this.worker.postMessage(message, transfer);
  }

  private async fewerThan(most: number): Promise<void> {
    while (this.pending >= most && !this.failed)
      await new Promise<void>((done) => (this.answered = done));
    if (this.failed) throw this.failed;
  }

  private receive(bytes: FromGifWorker): void {
    this.pending--;
    if (bytes.length) this.sink.write(bytes, this.place);
    this.place += bytes.length;
    this.answered?.();
  }
}

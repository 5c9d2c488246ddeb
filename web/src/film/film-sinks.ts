// Where the bytes of a film go: into a file, into memory, or to whoever fetches them piece by piece.

export interface FilmSink {
  /** Bytes for a place in the file; the beginning of a file is often written last. */
  write(bytes: Uint8Array<ArrayBuffer>, position: number): void;
  /** Comes true when more can be written. */
  ready(): Promise<void>;
  /** Comes true when all is where it belongs. */
  finish(): Promise<void>;
  /** Nothing is left behind. */
  cancel(): Promise<void>;
}

interface Piece {
  bytes: Uint8Array<ArrayBuffer>;
  position: number;
}

/** For browsers that cannot write files: a film has some 20 MB. */
export class MemorySink implements FilmSink {
  private pieces: Piece[] = [];

  write(bytes: Uint8Array<ArrayBuffer>, position: number): void {
    this.pieces.push({ bytes, position });
  }

  async ready(): Promise<void> {}

  async finish(): Promise<void> {}

  async cancel(): Promise<void> {
    this.pieces = [];
  }

  blob(type: string): Blob {
    const size = this.pieces.reduce(
      (most, { bytes, position }) => Math.max(most, position + bytes.length),
      0,
    );
    const all = new Uint8Array(size);
    for (const { bytes, position } of this.pieces) all.set(bytes, position);
    return new Blob([all], { type });
  }
}

/** A file that the person has chosen. */
export class FileSink implements FilmSink {
  private last: Promise<void> = Promise.resolve();
  private failed: unknown = null;

  constructor(private readonly stream: FileSystemWritableFileStream) {}

  write(data: Uint8Array<ArrayBuffer>, position: number): void {
    this.last = this.last
      .then(() => this.stream.write({ type: "write", data, position }))
      .catch((error: unknown) => {
        this.failed ??= error;
      });
  }

  async ready(): Promise<void> {
    await this.last;
    if (this.failed !== null) throw this.failed;
  }

  async finish(): Promise<void> {
    await this.ready();
    await this.stream.close();
  }

  async cancel(): Promise<void> {
    await this.stream.abort().catch(() => undefined);
  }
}

const MOST_WAITING = 2 ** 23; // bytes that are not fetched yet

/** Pieces that are fetched one after the other; the film waits when many are. */
export class FetchedSink implements FilmSink {
  private pieces: Piece[] = [];
  private waiting = 0;
  private drained: (() => void) | null = null;

  write(bytes: Uint8Array<ArrayBuffer>, position: number): void {
    this.pieces.push({ bytes, position });
    this.waiting += bytes.length;
  }

  async ready(): Promise<void> {
    if (this.waiting > MOST_WAITING) await new Promise<void>((done) => (this.drained = done));
  }

  async finish(): Promise<void> {}

  async cancel(): Promise<void> {
    this.take();
  }

  /** All that is there. */
  take(): readonly Piece[] {
    const taken = this.pieces;
    this.pieces = [];
    this.waiting = 0;
    this.drained?.();
    this.drained = null;
    return taken;
  }
}

// Frames in, a video file out: the browser encodes, a small muxer puts the pieces into a file.

import type { Pixels } from "../drawing/pixels";
import type { FilmSink } from "./film-sinks";
import type { FilmWriter } from "./film-writer";
import type { Codec, VideoFormat } from "./video-codecs";

const MOST_QUEUED = 6; // frames that wait for the encoder
const KEY_SECONDS = 2; // between frames that stand alone, to which players can jump
const PIECE = 2 ** 20; // bytes that are written at once

interface Muxer {
  addVideoChunk(chunk: EncodedVideoChunk, meta?: EncodedVideoChunkMetadata): void;
  finalize(): void;
}

export class VideoWriter implements FilmWriter {
  private failed: Error | null = null;
  private encoded = 0;
  private given = 0;
  private readonly encoder: VideoEncoder;

  private constructor(
    { config }: VideoFormat,
    private readonly muxer: Muxer,
    private readonly sink: FilmSink,
    private readonly fps: number,
  ) {
    this.encoder = new VideoEncoder({
      output: (chunk, meta) => {
        this.encoded++;
        this.muxer.addVideoChunk(chunk, meta);
      },
      error: (error) => (this.failed ??= error),
    });
    this.encoder.configure(config);
  }

  static async open(
    format: VideoFormat,
    sink: FilmSink,
    fps: number,
    frames: number,
  ): Promise<VideoWriter> {
    return new VideoWriter(format, await muxerOf(format, sink, fps, frames), sink, fps);
  }

  async add({ words, width, height }: Pixels<ArrayBuffer>): Promise<void> {
    const at = (index: number): number => Math.round((index * 1e6) / this.fps);
    const frame = new VideoFrame(words, {
      format: "RGBX",
      codedWidth: width,
      codedHeight: height,
      timestamp: at(this.given),
      duration: at(this.given + 1) - at(this.given),
    });
    const keyFrame = this.given % Math.round(KEY_SECONDS * this.fps) === 0;
    this.encoder.encode(frame, { keyFrame });
    frame.close();
    this.given++;
    while (this.encoder.encodeQueueSize > MOST_QUEUED && !this.failed)
      await new Promise((done) => this.encoder.addEventListener("dequeue", done, { once: true }));
    this.check();
    await this.sink.ready();
  }

  async finish(): Promise<void> {
    await this.encoder.flush();
    this.check();
    if (this.encoded !== this.given)
      throw new Error(`The encoder made ${this.encoded} of ${this.given} frames.`);
    this.encoder.close();
    this.muxer.finalize();
  }

  cancel(): void {
    if (this.encoder.state !== "closed") this.encoder.close();
  }

  private check(): void {
    if (this.failed) throw this.failed;
  }
}

/** Loaded when it is needed: most people who look at a run make no film. */
async function muxerOf(
  { container, codec, config }: VideoFormat,
  sink: FilmSink,
  frameRate: number,
  frames: number,
): Promise<Muxer> {
  const { width, height } = config;
  const stream = {
    onData: (data: Uint8Array, position: number) => sink.write(data.slice(), position),
    chunked: true,
    chunkSize: PIECE,
  };
  if (container === "mp4") {
    const { Muxer, StreamTarget } = await import("mp4-muxer");
    return new Muxer({
      target: new StreamTarget(stream),
      video: { codec: codec as "avc" | "vp9" | "av1", width, height, frameRate },
      fastStart: { expectedVideoChunks: frames }, // the index comes first: it plays while it loads
    });
  }
  const { Muxer, StreamTarget } = await import("webm-muxer");
  return new Muxer({
    target: new StreamTarget(stream),
    video: { codec: WEBM_NAMES[codec], width, height, frameRate },
  });
}

const WEBM_NAMES: Readonly<Record<Codec, string>> = {
  avc: "V_MPEG4/ISO/AVC",
  vp9: "V_VP9",
  av1: "V_AV1",
  vp8: "V_VP8",
};

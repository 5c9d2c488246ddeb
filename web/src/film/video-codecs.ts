// Which way of encoding a browser can do. H.264 plays everywhere; the others need no licence, so that
// every browser that encodes at all has one of them.

import { ReadableError } from "../model/errors";

export type Container = "mp4" | "webm";
export type Codec = "avc" | "vp9" | "av1" | "vp8";

export interface VideoFormat {
  container: Container;
  codec: Codec;
  config: VideoEncoderConfig;
}

export const CODEC_NAMES: Readonly<Record<Codec, string>> = {
  avc: "H.264",
  vp9: "VP9",
  av1: "AV1",
  vp8: "VP8",
};

/** Profiles from the most wanted to the least, each for larger pictures than the one before. */
const PROFILES: Readonly<Record<Codec, readonly string[]>> = {
  avc: ["avc1.640028", "avc1.640033", "avc1.4d0028", "avc1.42001f"],
  vp9: ["vp09.00.40.08", "vp09.00.51.08"],
  av1: ["av01.0.08M.08", "av01.0.12M.08"],
  vp8: ["vp8"],
};

/** What a container can hold, in the order of liking. */
const HELD: Readonly<Record<Container, readonly Codec[]>> = {
  mp4: ["avc", "vp9", "av1"],
  webm: ["vp9", "av1", "vp8"],
};

const BITS = 0.2; // for each pixel of a frame: small letters stay sharp
const LEAST_BITRATE = 2e6;

/** Of all ways that this browser has, the most wanted one: H.264 in MP4, or else WebM. */
export async function anyFormat(across: number, down: number, fps: number): Promise<VideoFormat> {
  return (
    (await firstSupported("mp4", ["avc"], across, down, fps)) ??
    (await firstSupported("webm", HELD.webm, across, down, fps)) ??
    noCodec("WebM", across, down)
  );
}

/** The most wanted way for files of one kind. */
export async function formatFor(
  container: Container,
  across: number,
  down: number,
  fps: number,
): Promise<VideoFormat> {
  return (
    (await firstSupported(container, HELD[container], across, down, fps)) ??
    noCodec(container, across, down)
  );
}

function noCodec(kind: string, across: number, down: number): never {
  throw new ReadableError(
    `This browser cannot encode ${kind} of ${across}x${down}; take a smaller size, another browser ` +
      "(Chrome, Edge, or Firefox 130 or later), or a GIF.",
  );
}

async function firstSupported(
  container: Container,
  codecs: readonly Codec[],
  across: number,
  down: number,
  fps: number,
): Promise<VideoFormat | null> {
  if (typeof VideoEncoder === "undefined") return null;
  for (const codec of codecs)
    for (const profile of PROFILES[codec]) {
      const config = configOf(codec, profile, across, down, fps);
      const found = await VideoEncoder.isConfigSupported(config).catch(() => null);
      if (found?.supported) return { container, codec, config };
    }
  return null;
}

/** `quality`, or an encoder that is in a hurry leaves frames out. */
function configOf(
  codec: Codec,
  profile: string,
  width: number,
  height: number,
  framerate: number,
): VideoEncoderConfig {
  return {
    codec: profile,
    width,
    height,
    framerate,
    bitrate: Math.max(LEAST_BITRATE, Math.round(BITS * width * height * framerate)),
    latencyMode: "quality",
    ...(codec === "avc" ? { avc: { format: "avc" } } : {}),
  };
}

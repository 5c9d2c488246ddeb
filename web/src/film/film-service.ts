// Films for `dynascope movie`: a program that has opened the page asks for a film, then fetches it
// piece by piece.

import { ReadableError } from "../model/errors";
import { filmSize, type FilmSpan } from "../model/film/film-plan";
import { askCurvature } from "../state/open-runs";
import { lastEpochOf, slots, trouble } from "../state/page-state";
import { FetchedSink } from "./film-sinks";
import { makeFilm } from "./make-film";
import { CODEC_NAMES, formatFor, type Container } from "./video-codecs";

export interface FilmOrder extends Omit<FilmSpan, "to"> {
  to: number | null; // null: the last epoch
  fps: number;
  width: number; // pixels
  height: number;
  kind: Container | "gif";
  curvature: boolean; // whether to compute the Hessian, which a panel shows
}

export interface FilmNews {
  frames: number;
  of: number; // 0: not known yet
  codec: string | null;
  pieces: { position: number; base64: string }[];
  done: boolean; // there is no more to come
  error: string | null; // a sentence
  fault: boolean; // whether it is ours: not about what was asked for
}

const PATIENCE = 250; // milliseconds until an answer without bytes
const LOOK = 20;

let sink = new FetchedSink();
let news: Omit<FilmNews, "pieces"> = unknown();

function unknown(): Omit<FilmNews, "pieces"> {
  return { frames: 0, of: 0, codec: null, done: false, error: null, fault: false };
}

export function startFilm(order: FilmOrder): void {
  sink = new FetchedSink();
  news = unknown();
  film(order).then(
    () => (news.done = true),
    (error: unknown) => {
      const known = error instanceof ReadableError;
      news.error = known ? error.message : `The film could not be made: ${String(error)}.`;
      news.fault = !known;
      news.done = true;
    },
  );
}

/** What has happened since the last call; waits a little if nothing has. */
export async function filmNews(): Promise<FilmNews> {
  const from = performance.now();
  let pieces = sink.take();
  while (!pieces.length && !news.done && performance.now() - from < PATIENCE) {
    await new Promise((done) => setTimeout(done, LOOK));
    pieces = sink.take();
  }
  const { done } = news; // what came after the pieces were taken is told the next time
  if (done && !pieces.length) pieces = sink.take();
  return {
    ...news,
    done: done && !pieces.length,
    pieces: pieces.map(({ bytes, position }) => ({ position, base64: base64(bytes) })),
  };
}

async function film(order: FilmOrder): Promise<void> {
  await opened(order.curvature);
  const { width, height, kind, fps } = order;
  const format = kind === "gif" ? kind : await formatFor(kind, width, height, fps);
  news.codec = format === "gif" ? null : CODEC_NAMES[format.codec];
  const to = order.to ?? lastEpochOf(slots.peek());
  const options = { ...order, to, size: filmSize(width, height), format };
  const never = new AbortController().signal; // the whole browser ends instead
  await makeFilm(options, sink, (frames, of) => Object.assign(news, { frames, of }), never);
}

/** Comes true when the runs are on the page, and what is known of them. */
async function opened(curvature: boolean): Promise<void> {
  const waits = (holds: () => boolean): Promise<void> =>
    new Promise((done, fail) => {
      const look = (): void => {
        if (holds()) return done();
        if (trouble.peek()) return fail(new ReadableError(trouble.peek()!));
        setTimeout(look, LOOK);
      };
      look();
    });
  const all = (holds: (slot: (typeof slots.value)[number]) => boolean) => (): boolean =>
    slots.peek().length > 0 && slots.peek().every(holds);
  await waits(
    all(
      ({ analysis, role, held }) =>
        analysis.peek() !== null && (role !== "before" || held.peek() !== null),
    ),
  );
  if (!curvature) return;
  slots.peek().forEach(askCurvature);
  await waits(all(({ curvature: state }) => state.peek() === "there"));
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000)
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

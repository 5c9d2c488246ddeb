// The film that is being made in the page: how far it is, and how to stop it.

import { signal } from "@preact/signals";
import { runFileName } from "../model/panel-csv";
import { download } from "../panels/save-panel";
import { slots, tellTrouble } from "../state/page-state";
import { FileSink, MemorySink, type FilmSink } from "./film-sinks";
import type { FilmOptions } from "./make-film";

export interface FilmState {
  file: string;
  frames: number;
  of: number; // 0: not known yet
  began: number;
}

export const filmProgress = signal<FilmState | null>(null);
let control = new AbortController();

const TYPES = { mp4: "video/mp4", webm: "video/webm", gif: "image/gif" } as const;

/** Asks where to put the film, where a browser can ask, and makes it. */
export async function recordFilm(options: FilmOptions): Promise<void> {
  const ending = options.format === "gif" ? "gif" : options.format.container;
  const type = TYPES[ending];
  const file = runFileName(slots.peek()[0]!.info.id, null, "film", ending);
  try {
    const stream = await chosenFile(file, type);
    const memory = new MemorySink();
    await made(options, stream ? new FileSink(stream) : memory, file);
    if (!stream) download(file, memory.blob(type));
  } catch (error) {
    if (!(error instanceof DOMException && error.name === "AbortError")) tellTrouble(error);
  } finally {
    filmProgress.value = null;
  }
}

export function cancelFilm(): void {
  control.abort();
}

async function made(options: FilmOptions, sink: FilmSink, file: string): Promise<void> {
  control = new AbortController();
  const began = performance.now();
  filmProgress.value = { file, frames: 0, of: 0, began };
  const { makeFilm } = await import("./make-film"); // with what it needs, a file of its own
  const report = (frames: number, of: number): void => {
    filmProgress.value = { file, frames, of, began };
  };
  await makeFilm(options, sink, report, control.signal);
}

interface FilePicker {
  showSaveFilePicker?(options: {
    suggestedName: string;
    types: { accept: Record<string, string[]> }[];
  }): Promise<FileSystemFileHandle>;
}

/** A file to write to; null in browsers that only download. */
async function chosenFile(
  name: string,
  type: string,
): Promise<FileSystemWritableFileStream | null> {
  const { showSaveFilePicker } = globalThis as FilePicker;
  if (!showSaveFilePicker) return null;
  const accept = { [type]: [name.slice(name.lastIndexOf("."))] };
  const handle = await showSaveFilePicker({ suggestedName: name, types: [{ accept }] });
  return handle.createWritable();
}

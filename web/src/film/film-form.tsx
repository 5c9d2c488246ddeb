// What a film is to be like.

import { useEffect, useState } from "preact/hooks";
import { ReadableError } from "../model/errors";
import { even, filmSize } from "../model/film/film-plan";
import { clock } from "../model/number-text";
import { lastEpoch, seen, slots, trouble } from "../state/page-state";
import { spikesOf } from "../state/spike-view";
import { pageSize } from "../stage/stage-picture";
import type { StageSize } from "../stage/stage-layout";
import { Term } from "../terms/term";
import { EPOCHS_PER_SECOND } from "../time/clock";
import { filmProgress, recordFilm } from "./film-job";
import { framesOf } from "./film-frames";
import { anyFormat, CODEC_NAMES, type VideoFormat } from "./video-codecs";

const FPS = { video: 30, gif: 20 } as const;
const SIZES = ["1280x720", "1920x1080", "page"] as const;
const SLOWER = [1, 2, 4, 8] as const;

interface Choice {
  from: number;
  to: number;
  speed: number; // epochs a second
  slow: number;
  size: (typeof SIZES)[number];
  kind: keyof typeof FPS;
}

export function FilmForm({ close }: { close: () => void }) {
  const [choice, setChoice] = useState<Choice>(() => ({
    from: 0,
    to: lastEpoch.peek(),
    speed: EPOCHS_PER_SECOND * seen.speed.peek(),
    slow: 1,
    size: "1280x720",
    kind: "video",
  }));
  const format = useFormat(choice.size);
  const chosen = choice.kind === "gif" ? "gif" : format;
  const set = (part: Partial<Choice>): void => setChoice({ ...choice, ...part });
  const fps = FPS[choice.kind];
  const span = { ...choice, every: choice.speed / fps };
  const why = whyNot(choice) ?? (chosen instanceof ReadableError ? chosen.message : null);
  const frames = whyNot(choice) ? [] : framesOf(span, slots.value);
  const record = (): void => {
    if (why || !chosen || chosen instanceof ReadableError || !frames.length) return;
    close();
    trouble.value = null;
    void recordFilm({
      ...span,
      fps,
      size: sizeOf(choice.size),
      format: chosen,
    });
  };
  return (
    <form
      class="film"
      onSubmit={(event) => {
        event.preventDefault();
        record();
      }}
    >
      <p class="hint">A film of what you see: these runs, these panels, this theme.</p>
      <div class="fields">
        <Whole name="from epoch" value={choice.from} set={(from) => set({ from })} />
        <Whole name="to epoch" value={choice.to} set={(to) => set({ to })} />
        <Whole name="epochs a second" value={choice.speed} set={(speed) => set({ speed })} />
        <label>
          <Term of="slow-motion">around spikes</Term>
          <select
            aria-label="around spikes"
            value={choice.slow}
            disabled={!slots.value.some((slot) => spikesOf(slot).length)}
            onChange={(event) => set({ slow: Number(event.currentTarget.value) })}
          >
            {SLOWER.map((each) => (
              <option value={each}>{each === 1 ? "as fast" : `${each}× slower`}</option>
            ))}
          </select>
        </label>
        <label>
          size
          <select
            aria-label="size"
            value={choice.size}
            onChange={(event) =>
              set({ size: SIZES.find((each) => each === event.currentTarget.value)! })
            }
          >
            {SIZES.map((each) => (
              <option value={each}>{each === "page" ? "this page" : each}</option>
            ))}
          </select>
        </label>
        <label>
          file
          <select
            aria-label="file"
            value={choice.kind}
            onChange={(event) =>
              set({ kind: event.currentTarget.value === "gif" ? "gif" : "video" })
            }
          >
            <option value="video">{videoName(format)}</option>
            <option value="gif">GIF</option>
          </select>
        </label>
      </div>
      {why && (
        <p class="trouble" role="alert">
          {why}
        </p>
      )}
      <div class="buttons">
        <button
          class="primary"
          type="submit"
          disabled={why !== null || !chosen || !frames.length || filmProgress.value !== null}
        >
          Record
        </button>
        <span class="hint">
          {frames.length
            ? `${frames.length} frames, ${clock(frames.length / fps)}`
            : "no epoch with weights"}
        </span>
      </div>
    </form>
  );
}

function Whole({
  name,
  value,
  set,
}: {
  name: string;
  value: number;
  set: (value: number) => void;
}) {
  return (
    <label>
      {name}
      <input
        type="number"
        aria-label={name}
        value={Number.isNaN(value) ? "" : value}
        step="any"
        onInput={(event) => set(event.currentTarget.valueAsNumber)}
      />
    </label>
  );
}

/** What is wrong with a choice, in a sentence. */
function whyNot({ from, to, speed }: Choice): string | null {
  const last = lastEpoch.value;
  const isEpoch = (value: number): boolean =>
    Number.isInteger(value) && value >= 0 && value <= last;
  if (!isEpoch(from)) return `from epoch: expected a whole number from 0 to ${last}.`;
  if (!isEpoch(to)) return `to epoch: expected a whole number from 0 to ${last}.`;
  if (to < from) return `to epoch: expected ${from} or later, as the film begins there.`;
  return speed >= 0.1 && speed <= 10_000
    ? null
    : "epochs a second: expected a number from 0.1 to 10000.";
}

/** How this browser encodes a video; an error that says so if it cannot. */
function useFormat(size: Choice["size"]): VideoFormat | ReadableError | null {
  const [found, setFound] = useState<VideoFormat | ReadableError | null>(null);
  useEffect(() => {
    let current = true;
    const { width, height, ratio } = sizeOf(size);
    anyFormat(Math.round(width * ratio), Math.round(height * ratio), FPS.video).then(
      (format) => current && setFound(format),
      (error: ReadableError) => current && setFound(error),
    );
    return () => {
      current = false;
    };
  }, [size]);
  return found;
}

function videoName(format: VideoFormat | ReadableError | null): string {
  if (format === null || format instanceof ReadableError) return "video";
  const container = { mp4: "MP4", webm: "WebM" }[format.container];
  return `${container} (${CODEC_NAMES[format.codec]})`;
}

function sizeOf(size: Choice["size"]): StageSize {
  if (size !== "page") {
    const [across, down] = size.split("x").map(Number);
    return filmSize(across!, down!);
  }
  const { width, height } = pageSize();
  const ratio = devicePixelRatio || 1;
  return { width: even(width * ratio) / ratio, height: even(height * ratio) / ratio, ratio };
}

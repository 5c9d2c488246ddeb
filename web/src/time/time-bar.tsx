// The time bar: what moves everything. The slider is a real range input's equal for keyboard and
// screen reader; the picture behind it is drawn once, the playhead alone moves.

import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { CanvasPen, sizedContext } from "../drawing/canvas-pen";
import { cancelFrame, onNextFrame } from "../drawing/frame-queue";
import { short } from "../model/number-text";
import { hasOwnData } from "../model/own-data";
import { phasesUnknown } from "../model/phase-bands";
import type { Analysis } from "../model/server/answers";
import { palette } from "../state/colour-scheme";
import { WeightsNote } from "../panels/weights-note";
import {
  axisEnd,
  change,
  epoch,
  lastEpoch,
  LEAP,
  playing,
  runsBeside,
  seek,
  seen,
  slotEpoch,
  slots,
} from "../state/page-state";
import { LiveBar } from "../live/live-bar";
import { liveShown } from "../state/live-control";
import { canDiffer, differing, toggleDifference } from "../state/difference";
import { keepsNoSum } from "../state/end-sums";
import { drawnScale, presenting } from "../state/presentation";
import { nextSpike, spikesOf } from "../state/spike-view";
import { isMarked } from "../state/story-view";
import { canHold, hold, holding, release } from "../state/two-epochs";
import { Term } from "../terms/term";
import { PhaseName } from "./phase-name";
import { StoryStrip } from "./story-strip";
import { drawHead, drawHeld, drawTrack, epochAt, trackOf, type Track } from "./timeline";

// A slider's keys beyond those that move time from anywhere.
const STEPS: Readonly<Record<string, number>> = {
  ArrowUp: 1,
  ArrowDown: -1,
  PageUp: LEAP,
  PageDown: -LEAP,
};
const USUAL_HEIGHT = 100; // pixels of the picture, outside of presentations
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 8];

export function TimeBar() {
  return (
    <section class="time" aria-label="Time">
      <div class="row">
        <button
          aria-label="One epoch back"
          title="One epoch back (←)"
          onClick={() => seek(epoch.value - 1)}
        >
          ‹
        </button>
        <button
          class="primary play"
          aria-label={playing.value ? "Pause" : "Play"}
          title="Play or pause (space)"
          onClick={() => (playing.value = !playing.value)}
        >
          {playing.value ? "❚❚" : "▶"}
        </button>
        <button
          aria-label="One epoch on"
          title="One epoch on (→)"
          onClick={() => seek(epoch.value + 1)}
        >
          ›
        </button>
        <Epoch />
        <span class="gap" />
        {!presenting.value && <TimeOptions />}
      </div>
      {liveShown.value && !presenting.value && (
        <div class="row">
          <LiveBar live={liveShown.value} />
        </div>
      )}
      {!presenting.value && <StoryStrip />}
      <Slider />
    </section>
  );
}

function Epoch() {
  const slot = slots.value[slots.value.length > 1 && slots.value[1]?.role === "after" ? 1 : 0];
  const losses = (["train", "test"] as const).flatMap((set) => {
    const value = slot?.curves[`${set}_loss`]?.[slotEpoch(slot)];
    return value === undefined || Number.isNaN(value)
      ? []
      : [{ set, told: `${set} ${short(value)}` }];
  });
  const told = losses.map((loss) => loss.told);
  return (
    <>
      <span class="epoch">epoch {epoch.value}</span>
      <PhaseName />
      <span class="losses">
        {runsBeside.value && "left: "}
        <Term of="loss" label={`Loss: ${told.join(", ")}`}>
          {losses.map(({ set, told }, i) => (
            <>
              {i > 0 && " · "}
              <span class={set}>{told}</span>
            </>
          ))}
        </Term>
      </span>
      {slot && slots.value.length === 1 && <WeightsNote slot={slot} />}
      <span class="unseen" aria-live={playing.value ? "off" : "polite"}>
        {`Epoch ${epoch.value}. Loss${runsBeside.value ? " of the left run" : ""}: ${told.join(", ")}.`}
      </span>
    </>
  );
}

function TimeOptions() {
  const [speed, axes] = [seen.speed.value, seen.axes.value];
  const speeds = SPEEDS.includes(speed) ? SPEEDS : [...SPEEDS, speed].sort((a, b) => a - b);
  return (
    <>
      <span class="setting">
        <Term of="speed">speed</Term>
        <select
          aria-label="speed"
          value={speed}
          onChange={(event) => change({ speed: Number(event.currentTarget.value) })}
        >
          {speeds.map((each) => (
            <option value={each}>{each}×</option>
          ))}
        </select>
      </span>
      <span class="setting">
        <Term of="axes">axes</Term>
        <select
          aria-label="axes"
          value={axes}
          onChange={(event) =>
            change({ axes: event.currentTarget.value === "follow" ? "follow" : "fixed" })
          }
        >
          <option value="fixed">fixed</option>
          <option value="follow">follow</option>
        </select>
      </span>
      <ColourSetting />
      {runsBeside.value && (
        <span
          class="legend"
          title="The phases, the strip of gradient norms and the spikes are those of the left run; the dashed curves are those of the right one."
        >
          — left run ┄ right run
        </span>
      )}
      <DifferenceButton />
      <HoldButton />
      <SpikesButton />
    </>
  );
}

/** Only where there are sums: they are those of modular addition. */
function ColourSetting() {
  const summed = slots.value.filter((slot) => slot.sumClient);
  if (!summed.length) return null;
  const colour = seen.colour.value;
  const none = colour === "sum" && summed.every(keepsNoSum);
  return (
    <span class="setting">
      <Term of="colour">colour</Term>
      <select
        aria-label="colour"
        title={none ? "No sum is kept at the end: colours are those of multisets" : undefined}
        value={colour}
        onChange={(event) =>
          change({ colour: event.currentTarget.value === "sum" ? "sum" : "multiset" })
        }
      >
        <option value="multiset">multiset</option>
        <option value="sum">{none ? "no sum" : "sum"}</option>
      </select>
    </span>
  );
}

/** Said once, where the bands would be. */
function PhasesUnknown() {
  const slot = slots.value[0];
  const analysis = slot?.analysis.value;
  const why = analysis && !hasOwnData(slot.info.task) ? phasesUnknown(analysis) : null;
  return (
    why && (
      <span class="phases-unknown" title={why}>
        phases unknown
      </span>
    )
  );
}

function DifferenceButton() {
  if (!canDiffer.value) return null;
  const title =
    slots.value.length > 1
      ? "How the right half differs from the left one: attention and curves minus the left, arrows from where points are there (D)"
      : "How the changed run differs from the run as it was (D)";
  return (
    <button aria-pressed={differing.value} title={title} onClick={toggleDifference}>
      Difference
    </button>
  );
}

function HoldButton() {
  if (!canHold.value) return null;
  const held = holding.value;
  return (
    <button
      aria-pressed={held}
      title={
        held ? "One epoch again (H)" : "Keep this epoch on the left and compare others with it (H)"
      }
      onClick={() => (held ? release() : hold())}
    >
      {held ? "Release" : "Hold"}
    </button>
  );
}

function SpikesButton() {
  if (slots.value[0]?.live) return null; // nobody looks for them in a run that is trained here
  const analysis = slots.value[0]?.analysis.value;
  const count = spikesOf(slots.value[0]).length;
  return (
    <button
      disabled={!count}
      title={analysis ? "To the next spike (S)" : "Spikes are being looked for"}
      onClick={nextSpike}
    >
      <span class="spikes" aria-hidden="true">
        ▼
      </span>{" "}
      {spikesTold(analysis, count)}
      {runsBeside.value && ", left"}
    </button>
  );
}

function spikesTold(analysis: Analysis | null | undefined, count: number): string {
  if (!analysis) return "spikes …";
  if (!analysis.spikes) return "spikes unknown"; // that could not be analysed
  return count === 1 ? "1 spike" : `${count || "no"} spikes`;
}

function Slider() {
  const root = useRef<HTMLDivElement>(null);
  const picture = useRef<HTMLCanvasElement>(null);
  const head = useRef<HTMLCanvasElement>(null);
  const held = useRef<Track | null>(null);
  useEffect(() => {
    if (!root.current || !picture.current || !head.current) return;
    return followTrack(root.current, picture.current, head.current, held);
  }, []);
  const drag = (event: PointerEvent): void => {
    if (!held.current || !root.current) return;
    const { left, height } = root.current.getBoundingClientRect();
    seek(epochAt(held.current, (event.clientX - left) / drawnScale(height, USUAL_HEIGHT)));
  };
  const step = (event: KeyboardEvent): void => {
    const by = STEPS[event.key];
    if (by === undefined) return;
    event.preventDefault(); // or the page scrolls
    seek(epoch.value + by);
  };
  return (
    <div
      class={slots.value[0] && isMarked("loss", slots.value[0]) ? "track marked" : "track"}
      ref={root}
      role="slider"
      tabIndex={0}
      aria-label="Epoch"
      aria-valuemin={0}
      aria-valuemax={lastEpoch.value}
      aria-valuenow={epoch.value}
      aria-valuetext={`Epoch ${epoch.value} of ${lastEpoch.value}`}
      onKeyDown={step}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag(event);
      }}
      onPointerMove={(event) => event.buttons && drag(event)}
    >
      <canvas ref={picture} />
      <canvas ref={head} />
      <PhasesUnknown />
      {slots.value[0]?.info.curveNames.some((name) => name.startsWith("grad_norm/")) && (
        <span class="strip-name" onPointerDown={(event) => event.stopPropagation()}>
          <Term of="gradient-strip" label="Gradient strip">
            |∇|
          </Term>
        </span>
      )}
    </div>
  );
}

function followTrack(
  root: HTMLElement,
  picture: HTMLCanvasElement,
  head: HTMLCanvasElement,
  held: { current: Track | null },
): () => void {
  let [width, height] = [0, 0];
  const drawHeadNow = (): void => {
    const context = scaledContext(head, width, height);
    if (!context || !held.current) return;
    const pen = new CanvasPen(context);
    const kept = holding.value ? seen.held.value : null;
    if (kept !== null) drawHeld(pen, held.current, kept, palette.value.colours);
    drawHead(pen, held.current, epoch.value, palette.value.colours);
  };
  const drawAll = (): void => {
    const context = scaledContext(picture, width, height);
    if (!context) return;
    const scale = drawnScale(height, USUAL_HEIGHT);
    held.current = trackOf(width / scale, height / scale, slots.value, axisEnd.value);
    drawTrack(new CanvasPen(context), held.current, slots.value, palette.value);
    drawHeadNow();
  };
  const observer = new ResizeObserver(([entry]) => {
    if (!entry) return;
    ({ width, height } = entry.contentRect);
    onNextFrame(drawAll);
  });
  observer.observe(root);
  const release = [
    effect(() => {
      void slots.value.map((slot) => [slot.analysis.value, slot.grown.value]);
      void [palette.value, presenting.value, axisEnd.value];
      onNextFrame(drawAll);
    }),
    effect(() => {
      void [epoch.value, holding.value, seen.held.value];
      onNextFrame(drawHeadNow);
    }),
  ];
  return () => {
    observer.disconnect();
    release.forEach((stop) => stop());
    cancelFrame(drawAll);
    cancelFrame(drawHeadNow);
  };
}

/** An empty canvas to draw on, larger than life in a presentation. */
function scaledContext(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D | null {
  const context = sizedContext(canvas, width, height);
  context?.clearRect(0, 0, width, height);
  const scale = drawnScale(height, USUAL_HEIGHT);
  context?.scale(scale, scale);
  return context;
}

// A painter on a canvas: two layers, drawn when something they show has changed.

import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { cancelFrame, onNextFrame, rehearse } from "../drawing/frame-queue";
import { sameMark, type Mark } from "../model/marks";
import type { Sequences } from "../model/types";
import { palette } from "../state/colour-scheme";
import { differing } from "../state/difference";
import { mark, pinned, seen, slotEpoch, slots, type Slot } from "../state/page-state";
import { pictureScale, presenting } from "../state/presentation";
import { canMove, Drag } from "./drag";
import { LayeredPicture } from "./layered-picture";
import type { Frame, Grabbed, Painter } from "./painter";

interface Props {
  painter: Painter;
  slot: Slot;
  big: boolean;
  label: string;
  onReady?: (frame: () => Frame | null) => void;
  onSeek?: (x: number) => void;
}

export function PanelCanvas({ painter, slot, big, label, onReady, onSeek }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const layer = new Layers(element, painter, slot, big);
    onReady?.(() => layer.frame());
    return () => layer.stop();
  }, [painter, slot, big]);
  const pick = (event: MouseEvent): Mark | null => {
    const { clientWidth, clientHeight } = event.currentTarget as HTMLCanvasElement;
    const scale = scaleOf(clientWidth, clientHeight);
    const frame = frameOf(slot, big, clientWidth, clientHeight);
    return painter.pick?.(event.offsetX / scale, event.offsetY / scale, frame) ?? null;
  };
  const drag = useRef<Drag | null>(null);
  const dragged = useRef(false); // what ends a drag is no click
  const placed = (event: PointerEvent): [x: number, y: number] => {
    const { clientWidth, clientHeight } = event.currentTarget as HTMLCanvasElement;
    const scale = scaleOf(clientWidth, clientHeight);
    return [event.offsetX / scale, event.offsetY / scale];
  };
  const grabbedAt = (event: PointerEvent): Grabbed | null => {
    const { clientWidth, clientHeight } = event.currentTarget as HTMLCanvasElement;
    const frame = frameOf(slot, big, clientWidth, clientHeight);
    return canMove(slot) ? (painter.grab?.(...placed(event), frame) ?? null) : null;
  };
  return (
    <canvas
      ref={canvas}
      role="img"
      aria-label={label}
      onPointerDown={(event) => {
        const grabbed = event.button === 0 && grabbedAt(event);
        if (!grabbed) return;
        event.currentTarget.style.cursor = "grabbing";
        drag.current = new Drag(slot, grabbed, ...placed(event));
        dragged.current = false;
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onTouchStart={(event) => {
        if (drag.current) event.preventDefault(); // the point moves, not the page
      }}
      onPointerUp={() => (drag.current = null)}
      onPointerCancel={() => (drag.current = null)}
      onPointerMove={(event) => {
        if (drag.current) {
          dragged.current = drag.current.to(...placed(event)) || dragged.current;
          return;
        }
        const found = pick(event);
        if (!sameMark(found, mark.value)) mark.value = found;
        event.currentTarget.style.cursor = grabbedAt(event) ? "grab" : "";
      }}
      onPointerLeave={() => (mark.value = null)}
      onClick={(event) => {
        const { clientWidth, clientHeight } = event.currentTarget;
        if (dragged.current) return void (dragged.current = false);
        if (onSeek) return onSeek(event.offsetX / scaleOf(clientWidth, clientHeight));
        const found = pick(event);
        pinned.value = sameMark(found, pinned.value) ? null : found;
      }}
    />
  );
}

const scaleOf = (width: number, height: number): number =>
  pictureScale(width, height, presenting.value);

function frameOf(slot: Slot, big: boolean, width: number, height: number): Frame {
  const scale = scaleOf(width, height);
  return {
    width: width / scale,
    height: height / scale,
    big,
    slot,
    ratio: (devicePixelRatio || 1) * scale,
    scene: slot.scene.value,
    epoch: slotEpoch(slot),
    time: performance.now(),
    axes: seen.axes.value,
    together: slots.value,
    mark: markFor(slot),
    palette: palette.value,
    difference: differing.value,
  };
}

/** What is marked in one run is marked in the other where it means the same there. */
export function markFor(slot: Slot, marked = mark.value ?? pinned.value): Mark | null {
  const other = marked && slots.value[marked.slot];
  if (!marked || !other || other.info.id === slot.info.id) return marked;
  const [a, b] = [slot.sequences.value, other.sequences.value];
  const same =
    a.length === b.length &&
    a.vocab === b.vocab &&
    (marked.kind !== "sequence" || sameTokens(a, b, marked.index));
  return same && marked.kind !== "unit" ? marked : null;
}

function sameTokens(a: Sequences, b: Sequences, index: number): boolean {
  const [from, end] = [index * a.length, (index + 1) * a.length];
  const tokens = b.tokens.subarray(from, end);
  return end <= b.tokens.length && a.tokens.subarray(from, end).every((t, i) => t === tokens[i]);
}

class Layers {
  private width = 0;
  private height = 0;
  private visible = true;
  private stopped = false;
  private readonly picture: LayeredPicture;
  private readonly context: CanvasRenderingContext2D | null;
  private readonly observer: ResizeObserver;
  private readonly seeing: IntersectionObserver;
  private readonly release: () => void;
  private readonly draw = (): void => this.paint();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly painter: Painter,
    private readonly slot: Slot,
    private readonly big: boolean,
  ) {
    this.picture = new LayeredPicture(painter);
    this.context = canvas.getContext("2d", { alpha: false });
    this.observer = new ResizeObserver(([entry]) => {
      if (!entry) return;
      this.width = entry.contentRect.width;
      this.height = entry.contentRect.height;
      onNextFrame(this.draw);
    });
    this.observer.observe(canvas);
    this.seeing = new IntersectionObserver(([entry]) => {
      this.visible = entry?.isIntersecting ?? true;
      onNextFrame(this.draw);
    });
    this.seeing.observe(canvas);
    this.release = effect(() => {
      this.watch();
      onNextFrame(this.draw);
    });
  }

  frame(): Frame | null {
    return this.width > 4 && this.height > 4
      ? frameOf(this.slot, this.big, this.width, this.height)
      : null;
  }

  stop(): void {
    this.stopped = true; // the painter belongs to another layer from now on
    this.observer.disconnect();
    this.seeing.disconnect();
    this.release();
    cancelFrame(this.draw);
  }

  /** Reads every signal on which the picture depends. */
  private watch(): void {
    const { scene, grouped, extents, from, analysis } = this.slot;
    void [scene.value, grouped.value, extents.value, from.value, analysis.value];
    void [mark.value, pinned.value, palette.value, slotEpoch(this.slot), seen.axes.value];
    void [presenting.value, seen.linear.value, differing.value, this.slot.grown.value];
  }

  private paint(): void {
    const frame = this.visible && !this.stopped ? this.frame() : null;
    if (!frame || !this.context) return;
    const { words, width, height } = this.picture.paint(frame);
    if (this.canvas.width !== width || this.canvas.height !== height)
      Object.assign(this.canvas, { width, height });
    this.context.putImageData(
      new ImageData(new Uint8ClampedArray(words.buffer), width, height),
      0,
      0,
    );
    if (this.painter.moving?.()) onNextFrame(this.draw);
    const training = this.slot.live?.now.peek().training; // then it is drawn often enough anyway
    if (frame.scene && !training) rehearse(this, () => this.rehearse());
  }

  /** Both layers, as in a frame in which all has changed. */
  private rehearse(): void {
    this.picture.forget();
    this.paint();
  }
}

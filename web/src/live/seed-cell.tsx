// One seed of many: its curve, its test accuracy, and what came of it.

import type { Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { CanvasPen, sizedContext } from "../drawing/canvas-pen";
import { cancelFrame, onNextFrame } from "../drawing/frame-queue";
import { percent, short } from "../model/number-text";
import { outcomeText, type SeedResult } from "../model/live/seed-results";
import { palette } from "../state/colour-scheme";
import { seedLook, seedPowers } from "../state/seed-browser";
import { drawSeed } from "./seed-picture";

interface Props {
  result: Signal<SeedResult>;
  epochs: number;
  column: number; // from 0
  reachable: boolean; // by Tab
  open: () => void;
}

export function SeedCell({ result, epochs, column, reachable, open }: Props) {
  const { value } = result;
  const { seed, outcome, report } = value;
  const told = outcomeText(value);
  const tested = report && !Number.isNaN(report.accuracy) ? percent(report.accuracy) : "–";
  return (
    <div
      class={`seed-cell ${outcome.replace(" ", "-")}`}
      role="gridcell"
      aria-colindex={column + 1}
      data-seed={seed}
      tabIndex={reachable ? 0 : -1}
      aria-label={`seed ${seed}: ${told}, test accuracy ${tested}, train loss ${short(report?.loss)}`}
      title={report ? `train loss ${short(report.loss)} at epoch ${report.epoch}` : ""}
      onClick={open}
    >
      <span class="head">
        <b>seed {seed}</b>
        <span>{tested}</span>
      </span>
      <SeedCanvas result={value} epochs={epochs} />
      <span class="outcome">{told}</span>
    </div>
  );
}

function SeedCanvas({ result, epochs }: { result: SeedResult; epochs: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { colours } = palette.value;
  const { curve } = seedLook.value;
  const powers = seedPowers.value ?? ([-1, 0] as const);
  useEffect(() => {
    const draw = (): void => {
      const element = canvas.current;
      if (!element) return;
      const { clientWidth: width, clientHeight: height } = element;
      const context = sizedContext(element, width, height);
      if (!context) return;
      context.clearRect(0, 0, width, height);
      const picture = { curve, epochs, powers, width, height, colours };
      drawSeed(new CanvasPen(context), result.report, picture);
    };
    onNextFrame(draw);
    return () => cancelFrame(draw);
  });
  return <canvas ref={canvas} aria-hidden="true" />;
}

// Five short steps for who comes for the first time; dismissed for good.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { seen, slots } from "./state";

const SEEN = "dynascope.introduced";

const STEPS: readonly (readonly [title: string, text: string])[] = [
  [
    "A tiny transformer, learning",
    "It reads sequences of tokens and adds up those at a few relevant positions, modulo p. The panels show every step of its arithmetic, left to right and down: embed, attend, feed forward, decode.",
  ],
  [
    "One slider moves everything",
    "The curve at the bottom is the loss. Drag along it, or press space to play; the arrow keys go epoch by epoch. Every panel shows the same moment.",
  ],
  [
    "What the points are",
    "Colours are sequences with the same relevant tokens; markers are the right answers. Circles are relevant positions, squares irrelevant ones; triangles are hidden units.",
  ],
  [
    "Everything is linked",
    "Point at a token, a position, a sequence or a hidden unit to find it in every panel, with its numbers at the side. Click to keep it marked.",
  ],
  [
    "Look for the drama",
    'Orange markers above the curve are spikes of the loss: press S to go to the next one, and choose it at the side to see before and after, and why. "All runs" has the rest.',
  ],
];

const step = signal<number | null>(null);

export function offerIntro(): void {
  try {
    if (localStorage.getItem(SEEN) !== "yes") step.value = 0;
  } catch {
    step.value = null; // where nothing can be kept, nobody is asked each time
  }
}

export function startIntro(): void {
  step.value = 0;
}

function dismiss(): void {
  step.value = null;
  try {
    localStorage.setItem(SEEN, "yes");
  } catch {
    // it is offered again next time
  }
}

export function Intro() {
  const at = seen.page.value === "run" && slots.value.length ? step.value : null; // beside what it explains
  const next = useRef<HTMLButtonElement>(null);
  useEffect(() => next.current?.focus(), [at]);
  if (at === null) return null;
  const [title, text] = STEPS[at] ?? ["", ""];
  const last = at === STEPS.length - 1;
  return (
    <div
      class="intro"
      role="dialog"
      aria-modal="false"
      aria-labelledby="intro-title"
      onKeyDown={(event) => event.key === "Escape" && dismiss()}
    >
      <h2 id="intro-title">{title}</h2>
      <p>{text}</p>
      <div class="buttons">
        <span class="hint">
          {at + 1} of {STEPS.length}
        </span>
        <span class="gap" />
        <button onClick={dismiss}>Don't show again</button>
        {at > 0 && <button onClick={() => (step.value = at - 1)}>Back</button>}
        <button
          ref={next}
          class="primary"
          onClick={() => (last ? dismiss() : (step.value = at + 1))}
        >
          {last ? "Done" : "Next"}
        </button>
      </div>
    </div>
  );
}

// Five short steps for who comes for the first time; dismissed for good.

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { hasOwnData } from "../model/own-data";
import { experiment } from "../state/guided";
import { dismissable } from "../state/dismissal";
import { seen, slots } from "../state/page-state";

const SEEN = "dynascope.introduced";

const STEPS: readonly (readonly [title: string, text: string])[] = [
  [
    "A tiny transformer, learning",
    "It reads sequences of tokens. Those at a few relevant positions decide what is right: their sum modulo p, unless the header names another task. The panels show every step of its arithmetic, left to right and down: embed, attend, feed forward, decode.",
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
    "Orange markers above the curve are spikes of the loss: press S to go to the next one, and choose it at the side to see before and after, and why. Point at any word to see what it means; ? opens the glossary.",
  ],
];

/** Two of the steps are others for data of a user's own. */
const OWN_STEPS: Readonly<Record<number, string>> = {
  0: "It reads sequences of tokens, and learns the targets that the data of this run give them. The panels show every step of its arithmetic, left to right and down: embed, attend, feed forward, decode.",
  2: "Colours and markers of sequences are the classes of their targets. Diamonds are positions, and nobody has said which of them are relevant; triangles are hidden units.",
};

const TABLE = [
  "All runs of a folder",
  "Each row is a run: its seed, what came of it, and the options in which runs differ. Type to filter, click a heading to sort, a row to open it; ◫ puts a run beside the open one. Point at a heading to see what it means; ? opens the glossary.",
] as const;

const step = signal<number | null>(null);
const onTable = signal(false); // whether the table is being explained

export function offerIntro(): void {
  try {
    if (localStorage.getItem(SEEN) !== "yes") step.value = 0;
  } catch {
    step.value = null; // where nothing can be kept, nobody is asked each time
  }
}

/** Asked for: about what is on the page. */
export function startIntro(): void {
  if (seen.page.value === "runs") onTable.value = true;
  else step.value = 0;
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
  const table = seen.page.value === "runs";
  useEffect(() => {
    if (!table) onTable.value = false;
  }, [table]);
  if (table) return onTable.value ? <AboutTable /> : null;
  const others = experiment.value !== null; // one guide at a time
  return slots.value.length && step.value !== null && !others ? <Step at={step.value} /> : null;
}

function AboutTable() {
  const close = (): void => void (onTable.value = false);
  return (
    <Card title={TABLE[0]} text={TABLE[1]} close={close}>
      <span class="gap" />
      <Onward at={0} name="Done" act={close} />
    </Card>
  );
}

function Step({ at }: { at: number }) {
  const [title, usual] = STEPS[at] ?? ["", ""];
  const own = slots.value.every((slot) => hasOwnData(slot.info.task));
  const text = (own && OWN_STEPS[at]) || usual;
  const last = at === STEPS.length - 1;
  return (
    <Card title={title} text={text} close={dismiss}>
      <span class="hint">
        {at + 1} of {STEPS.length}
      </span>
      <span class="gap" />
      <button onClick={dismiss}>Don't show again</button>
      {at > 0 && <button onClick={() => (step.value = at - 1)}>Back</button>}
      <Onward
        at={at}
        name={last ? "Done" : "Next"}
        act={() => (last ? dismiss() : (step.value = at + 1))}
      />
    </Card>
  );
}

/** The button that has the focus, so that Enter goes on. */
function Onward({ at, name, act }: { at: number; name: string; act: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), [at]);
  return (
    <button ref={button} class="primary" onClick={act}>
      {name}
    </button>
  );
}

interface CardProps {
  title: string;
  text: string;
  close: () => void;
  children: ComponentChildren;
}

function Card({ title, text, close, children }: CardProps) {
  useLayoutEffect(() => dismissable(close), []);
  return (
    <div class="intro" role="dialog" aria-modal="false" aria-labelledby="intro-title">
      <h2 id="intro-title">{title}</h2>
      <p>{text}</p>
      <div class="buttons">{children}</div>
    </div>
  );
}

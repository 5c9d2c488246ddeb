// The story of a run above its time: captions that lead to their moments, and what the one says that
// the playhead is at.

import { useEffect, useRef } from "preact/hooks";
import type { StoryMoment } from "../model/run-story";
import { epoch, firstSlot } from "../state/page-state";
import { currentMoment, moments, showMoment } from "../state/story-view";
import { WhichRun } from "../cards/which-run";
import { Term } from "../terms/term";

export function StoryStrip() {
  const slot = firstSlot.value;
  if (!slot || slot.live) return null; // nobody analyses a run that is trained here
  const told = moments.value;
  const awaited = !slot.analysis.value; // its room is kept, so that nothing moves when it comes
  if (!told.length && !awaited) return null;
  const current = told[currentMoment.value];
  return (
    <div class="story">
      <div class="story-row">
        <Term of="story">story</Term>
        <WhichRun slot={slot} />
        <Captions told={told} />
      </div>
      <p class="story-text" title={current?.text}>
        {awaited ? "Key moments are being looked for." : current?.text}
      </p>
    </div>
  );
}

function Captions({ told }: { told: readonly StoryMoment[] }) {
  const list = useRef<HTMLOListElement>(null);
  const at = currentMoment.value;
  useEffect(() => {
    const item = list.current?.children[at];
    if (list.current && item instanceof HTMLElement) bringIntoSight(list.current, item);
  }, [at, told]);
  return (
    <ol
      ref={list}
      aria-label="Story"
      onWheel={({ currentTarget, deltaY }) => (currentTarget.scrollLeft += deltaY)}
    >
      {told.map((moment, i) => (
        <li>
          <button
            class={`of-${moment.kind}`}
            aria-current={i === at ? "step" : undefined}
            data-reached={moment.epoch <= epoch.value ? "" : undefined}
            title={moment.text}
            onClick={() => showMoment(i)}
          >
            <small>{moment.epoch}</small> {moment.caption}
          </button>
        </li>
      ))}
    </ol>
  );
}

/** The captions alone move: `scrollIntoView` would move the page as well. */
function bringIntoSight(list: HTMLElement, item: HTMLElement): void {
  const middle = item.offsetLeft - list.offsetLeft + item.offsetWidth / 2;
  list.scrollTo({ left: middle - list.clientWidth / 2 });
}

// Which sequences are shown: chosen ones, or those that a person types.

import { effect, signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { hasOwnData } from "../model/own-data";
import { howToType, writeSequences } from "../model/typed-sequences";
import type { Sequences } from "../model/types";
import { firstSlot, slots, trouble, seen } from "../state/page-state";

const rejected = signal<string | null>(null); // what was typed last, if it cannot be shown

export function SequencesForm({ close }: { close: () => void }) {
  const [text, setText] = useState(rejected.peek() ?? seen.sequences.value ?? "");
  const [why, use] = useSequences();
  const shown = firstSlot.value?.sequences.value;
  const task = firstSlot.value?.info.task;
  const own = slots.value.some((slot) => hasOwnData(slot.info.task));
  return (
    <form
      class="sequences"
      onSubmit={(event) => {
        event.preventDefault();
        use(text.trim() || null);
      }}
    >
      <p class="hint">
        {shown && toldOf(shown)} Type others: {task && howToType(task)}
        {own && " (those that are not in the data have no target)"}.
      </p>
      <textarea
        rows={4}
        aria-label="Sequences"
        aria-invalid={why !== null}
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        placeholder={shown && writeSequences(firstOf(shown))}
      />
      {why && (
        <p class="trouble" role="alert">
          {why}
        </p>
      )}
      <div class="buttons">
        <button class="primary" type="submit">
          Show these
        </button>
        <button
          type="button"
          onClick={() => {
            use(null);
            close();
          }}
        >
          Choose for me
        </button>
      </div>
    </form>
  );
}

/** What stands in the empty field: a sequence that is shown, as it would be typed. */
const firstOf = (shown: Sequences): Sequences => ({ ...shown, count: 1 });

function toldOf({ count, set }: Sequences): string {
  const typed = seen.sequences.value !== null;
  const chosen = set
    ? `of the ${set} set`
    : "chosen so that every group of relevant tokens is there";
  const how = typed ? "as typed" : chosen;
  return `${count === 1 ? "1 sequence is" : `${count} sequences are`} shown, ${how}.`;
}

/** Why what was asked for cannot be shown, and how to ask. The answer is told here alone: it is
 * taken from the page's troubles before they are drawn. */
function useSequences(): [why: string | null, use: (typed: string | null) => void] {
  const [why, setWhy] = useState<string | null>(null);
  const asked = useRef<string | null>(null);
  useEffect(
    () =>
      effect(() => {
        if (!trouble.value || asked.current === null) return;
        rejected.value = asked.current;
        asked.current = null;
        setWhy(trouble.value);
        trouble.value = null;
      }),
    [],
  );
  useEffect(() => {
    asked.current = null; // there they are
  }, [firstSlot.value?.sequences.value]);
  const use = (typed: string | null): void => {
    trouble.value = rejected.value = null;
    setWhy(null);
    asked.current = typed;
    for (const slot of slots.value) slot.sceneClient.setSequences(typed);
  };
  return [why, use];
}

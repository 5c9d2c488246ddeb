// Which sequences are shown: chosen ones, or those that a person types.

import { useState } from "preact/hooks";
import { main, slots, trouble, seen } from "./state";

export function SequencesForm({ close }: { close: () => void }) {
  const [text, setText] = useState(seen.sequences.value ?? "");
  const shown = main.value?.sequences.value;
  const use = (typed: string | null): void => {
    trouble.value = null;
    for (const slot of slots.value) slot.engine.setSequences(typed);
    if (typed === null) close();
  };
  return (
    <form
      class="sequences"
      onSubmit={(event) => {
        event.preventDefault();
        use(text.trim() || null);
      }}
    >
      <p class="hint">
        {shown &&
          `${shown.count} sequences are shown, ${seen.sequences.value === null ? "chosen so that every multiset of relevant tokens is there" : "as typed"}. `}
        Type others, of length {shown?.length}, with commas between:
      </p>
      <textarea
        rows={4}
        aria-label="Sequences"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        placeholder={"0".repeat(shown?.length ?? 12)}
      />
      {trouble.value && <p class="trouble">{trouble.value}</p>}
      <div class="buttons">
        <button class="primary" type="submit">
          Show these
        </button>
        <button type="button" onClick={() => use(null)}>
          Choose for me
        </button>
      </div>
    </form>
  );
}

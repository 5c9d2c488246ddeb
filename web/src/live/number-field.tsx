// A number to type. What is being typed stays, however often the page draws meanwhile.

import { useState } from "preact/hooks";

interface Props {
  label: string;
  value: number;
  set: (text: string) => void; // once it is entered
}

export function NumberField({ label, value, set }: Props) {
  const [draft, setDraft] = useState<string | null>(null);
  return (
    <input
      type="text"
      inputMode="decimal"
      autocomplete="off"
      aria-label={label}
      value={draft ?? String(Number(value.toPrecision(6)))}
      onInput={(event) => setDraft(event.currentTarget.value)}
      onChange={() => {
        if (draft !== null) set(draft);
        setDraft(null);
      }}
    />
  );
}

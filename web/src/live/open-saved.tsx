// A run that was saved as a file, opened again.

import { useRef } from "preact/hooks";
import { openSavedRun } from "../state/saved-runs";

export function OpenSaved({ close }: { close: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" onClick={() => input.current?.click()}>
        Open a saved run
      </button>
      <input
        ref={input}
        type="file"
        accept=".json"
        hidden
        aria-label="A saved run"
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          currentTarget.value = ""; // the same file can be chosen again
          if (file) void openSavedRun(file).then(close);
        }}
      />
    </>
  );
}

// In the form of a new run: many seeds of it instead of one.

import { useState } from "preact/hooks";
import { MOST_SEEDS, readSeedCount } from "../model/live/seed-plan";
import type { Config } from "../model/types";
import { trainSeeds } from "../state/seed-browser";
import { readOr } from "./option-texts";

interface Props {
  config: Config | null; // null: something is refused
  first: number | null; // the seed that the form has
  close: () => void;
}

export function ManySeeds({ config, first, close }: Props) {
  const [count, setCount] = useState("20");
  const { value, refused } = readOr(() => readSeedCount(count, first ?? 0));
  const ready = config !== null && first !== null && value !== null;
  const train = (): void => {
    if (!ready) return;
    close();
    trainSeeds(config, first, value);
  };
  return (
    <span class="many-seeds" role="group" aria-label="Many seeds">
      <label>
        seeds:{" "}
        <input
          type="text"
          inputMode="numeric"
          autocomplete="off"
          title={`How many, up to ${MOST_SEEDS}: each is a run of its own`}
          aria-invalid={refused !== null}
          value={count}
          onInput={(event) => setCount(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault(); // or the form would train one
            train();
          }}
        />
        , from seed {first ?? "–"}
      </label>
      <button
        type="button"
        disabled={!ready}
        title="Several at a time, with a small curve of each: which of them solve the task?"
        onClick={train}
      >
        Train many seeds
      </button>
      {refused && (
        <p class="trouble" role="alert">
          {refused}
        </p>
      )}
    </span>
  );
}

// A new run: the main settings, and all others where one looks for them.

import { useState } from "preact/hooks";
import { OPTIONS } from "../model/kernel/names";
import { defaultConfig } from "../model/live/live-options";
import { readSeed } from "../model/live/seed-plan";
import type { Config } from "../model/types";
import { startRun } from "../state/live-control";
import { firstSlot, seen } from "../state/page-state";
import { seedBrowser } from "../state/seed-browser";
import { ManySeeds } from "./many-seeds";
import { OpenSaved } from "./open-saved";
import { OptionField } from "./option-field";
import { readOr, useOptionTexts } from "./option-texts";

const MAIN = [
  ...["task.vocab", "task.length", "task.relevant"],
  ...["model.dim", "model.hidden", "model.norm"],
  ...["training.optimizer", "training.lr", "training.batch", "training.epochs"],
];
/** Not those that only say what is recorded: a live run keeps every epoch. */
const OTHERS = OPTIONS.map((option) => option.name).filter(
  (name) => !MAIN.includes(name) && !name.startsWith("record."),
);
const NAMES = [...MAIN, ...OTHERS];

export function LiveForm({ close }: { close: () => void }) {
  const [start] = useState(startOf);
  const options = useOptionTexts(start.config, NAMES);
  const [seed, setSeed] = useState(String(start.seed));
  const [trouble, setTrouble] = useState<string | null>(null);
  const { value: first, refused: notASeed } = readOr(() => readSeed(seed));
  const { config } = options;
  const field = (name: string) => (
    <OptionField
      key={name}
      option={OPTIONS.find((each) => each.name === name)!}
      text={options.text(name)}
      refused={options.refusals[name] ?? null}
      onText={(text) => options.set(name, text)}
    />
  );
  const hidden = OTHERS.some((name) => options.refusals[name]);
  return (
    <form
      class="live-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!config || first === null) return;
        startRun(config, first).then(close, (error: Error) => setTrouble(error.message));
      }}
    >
      <p class="hint">
        The run is trained here, by the same arithmetic as in Python, and with the same bits.
      </p>
      <div class="option-fields">
        {MAIN.map(field)}
        <div class="option-field">
          <label for="live-seed">seed</label>
          <input
            id="live-seed"
            type="text"
            inputMode="numeric"
            autocomplete="off"
            aria-invalid={notASeed !== null}
            value={seed}
            onInput={(event) => setSeed(event.currentTarget.value)}
          />
          {notASeed && (
            <p class="trouble" role="alert">
              {notASeed}
            </p>
          )}
        </div>
      </div>
      <details open={hidden}>
        <summary>All options</summary>
        <div class="option-fields">{OTHERS.map(field)}</div>
      </details>
      {trouble && (
        <p class="trouble" role="alert">
          {trouble}
        </p>
      )}
      <div class="buttons">
        <button class="primary" type="submit" disabled={!config || first === null}>
          Train
        </button>
        <ManySeeds config={config} first={first} close={close} />
        <OpenSaved close={close} />
      </div>
    </form>
  );
}

/** The options and the seed of what is looked at, if it has a task; else the defaults. */
function startOf(): { config: Config; seed: number } {
  const many = seen.page.peek() === "seeds" ? seedBrowser.peek() : null;
  if (many) return { config: many.config, seed: many.results[0]!.peek().seed };
  const info = firstSlot.peek()?.info;
  if (!info || info.task.positions === null) return { config: defaultConfig(), seed: 0 };
  const { record } = defaultConfig();
  return { config: { ...info.config, record }, seed: info.seed };
}

// Many seeds of one config: how many there are and solve the task, and a small curve of each.

import { useLayoutEffect } from "preact/hooks";
import { countsInWords, SEED_CHOICES, SEED_ORDERS } from "../model/live/seed-results";
import { SEED_CURVES } from "../model/live/seed-run";
import { THRESHOLDS } from "../model/thresholds";
import { dismissable } from "../state/dismissal";
import {
  closeSeeds,
  goOnWithSeeds,
  leaveSeeds,
  lookAtSeeds,
  seedBrowser,
  seedCounts,
  seedLook,
  seedPowers,
  seedsTraining,
  seedTimeLeft,
  shownSeeds,
  stopSeeds,
} from "../state/seed-browser";
import { Term } from "../terms/term";
import { SeedGrid } from "./seed-grid";

const CURVE_NAMES = { loss: "train loss", accuracy: "test accuracy" } as const;

export function SeedsPage() {
  useLayoutEffect(() => dismissable(leaveSeeds), []); // before it can be seen: a key may follow at once
  const browser = seedBrowser.value;
  if (!browser) return null;
  const shown = shownSeeds.value;
  return (
    <main class="seeds-page" aria-label="Many seeds">
      <div class="bar">
        <Counts />
        <span class="gap" />
        <Choices />
      </div>
      <SeedGrid browser={browser} shown={shown} />
      {!shown.length && <p class="notice">None of the seeds is {seedLook.value.choice} so far.</p>}
      <p class="hint">
        <AxesTold epochs={browser.config.training.epochs} /> The number beside a seed is its{" "}
        <Term of="accuracy">test accuracy</Term>; a run is <Term of="solved">solved</Term> if that
        is above {THRESHOLDS.solved_accuracy} at the end. Click one to open it.
      </p>
    </main>
  );
}

function Counts() {
  const counts = seedCounts.value;
  const over = counts.trained === counts.all;
  return (
    <>
      <span class="counts" role="status">
        {countsInWords(counts)}
      </span>
      {seedsTraining.value ? (
        <>
          <span class="left">{seedTimeLeft.value}</span>
          <button onClick={stopSeeds} title="Those that are over stay">
            Stop
          </button>
        </>
      ) : (
        !over && (
          <button onClick={goOnWithSeeds} title="Train those that are left">
            Go on
          </button>
        )
      )}
    </>
  );
}

function Choices() {
  const { curve, order, choice } = seedLook.value;
  return (
    <>
      <Choice
        label="curve"
        value={curve}
        options={SEED_CURVES.map((each) => [each, CURVE_NAMES[each]])}
        onChoice={(each) => lookAtSeeds({ curve: each })}
      />
      <Choice
        label="order"
        value={order}
        options={Object.entries(SEED_ORDERS) as [typeof order, string][]}
        onChoice={(each) => lookAtSeeds({ order: each })}
      />
      <Choice
        label="show"
        value={choice}
        options={SEED_CHOICES.map((each) => [each, each])}
        onChoice={(each) => lookAtSeeds({ choice: each })}
      />
      <button
        title="Ends training, and forgets the seeds"
        onClick={() => {
          leaveSeeds();
          closeSeeds();
        }}
      >
        Close
      </button>
    </>
  );
}

interface ChoiceProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly (readonly [Value, string])[];
  onChoice: (value: Value) => void;
}

function Choice<Value extends string>({ label, value, options, onChoice }: ChoiceProps<Value>) {
  return (
    <label>
      {label}{" "}
      <select value={value} onChange={(event) => onChoice(event.currentTarget.value as Value)}>
        {options.map(([each, name]) => (
          <option value={each}>{name}</option>
        ))}
      </select>
    </label>
  );
}

/** What the axes of all curves are. */
function AxesTold({ epochs }: { epochs: number }) {
  const [low, high] = seedPowers.value ?? [-1, 0];
  const up =
    seedLook.value.curve === "loss"
      ? `train loss from ${power(low)} to ${power(high)}, logarithmic, a line for each power of ten`
      : `test accuracy from 0 to 1, with a line at ${THRESHOLDS.solved_accuracy}`;
  return (
    <>
      Curves: {up}; epochs 0 to {epochs}.
    </>
  );
}

const power = (of: number): string => String(Number(`1e${of}`));

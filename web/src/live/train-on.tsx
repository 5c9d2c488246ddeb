// Training on from what is shown, with other options or with attention held: a branch.

import { useState } from "preact/hooks";
import { configAt } from "../model/live/run-edits";
import { changesBetween, clampText, partOf } from "../model/live/train-on-plan";
import { optionNamed } from "../model/live/live-options";
import type { Movable } from "../model/live/weight-edits";
import { trainOn, whyNoBranch } from "../state/branches";
import { slotEpoch, type Slot } from "../state/page-state";
import { OptionField } from "./option-field";
import { useOptionTexts } from "./option-texts";
import { WholeField } from "./whole-field";

const CHANGED = ["training.lr", "training.batch", "training.optimizer"];

export function TrainOn({ slot, frozen }: { slot: Slot; frozen: readonly Movable[] }) {
  const epoch = slotEpoch(slot);
  const before = configAt(slot.info.config, slot.info.edits, epoch);
  const options = useOptionTexts(before, CHANGED);
  const [held, setHeld] = useState(false);
  const [positions, setPositions] = useState(() => relevantOf(slot));
  const [length, setLength] = useState(100);
  const why = whyNoBranch(slot);
  const fits = /^\d{1,9}(:\d{1,9}|( *, *\d{1,9})*)$/.test(positions.trim());
  const go = (): void => {
    const { training } = before;
    const clamp = clampText({ positions: positions.trim(), from: epoch, to: epoch + length });
    void trainOn(slot, {
      ...(options.config && changesBetween(before, options.config, CHANGED)),
      ...(frozen.length && {
        "training.frozen": [...new Set([...training.frozen, ...frozen.map(partOf)])],
      }),
      ...(held && { "training.clamps": [...training.clamps, clamp] }),
    });
  };
  const ready = !why && options.config && (!held || (fits && length > 0));
  return (
    <>
      <details>
        <summary>Other options for the branch</summary>
        <div class="option-fields">
          {CHANGED.map((name) => (
            <OptionField
              key={name}
              prefix="branch-"
              option={optionNamed(name)}
              text={options.text(name)}
              refused={options.refusals[name] ?? null}
              onText={(text) => options.set(name, text)}
            />
          ))}
        </div>
        <label class="cut">
          <input type="checkbox" checked={held} onChange={() => setHeld(!held)} /> hold the
          attention
        </label>
        {held && (
          <div class="edit-row">
            <span>equally at</span>
            <input
              type="text"
              class="positions"
              aria-label="positions that get attention"
              aria-invalid={!fits}
              autocomplete="off"
              value={positions}
              onInput={(event) => setPositions(event.currentTarget.value)}
            />
            <span>for</span>
            <WholeField label="epochs to hold it" most={1e6} value={length} set={setLength} />
            <span>epochs</span>
            {!fits && (
              <p class="trouble" role="alert">
                {`Expected positions as 0:5 or 0,3,7, but got '${positions}'.`}
              </p>
            )}
          </div>
        )}
      </details>
      <button class="primary train-on" disabled={!ready} title={why ?? TITLE} onClick={go}>
        Train on from here
      </button>
      {why && <p class="hint">{why}</p>}
    </>
  );
}

const TITLE = "A branch beside this run: these weights, the same state of the optimizer";

function relevantOf({ info }: Slot): string {
  const positions = info.task.positions ?? [];
  const leading = positions.every((t, i) => t === i);
  return leading ? `0:${positions.length}` : positions.join(",");
}

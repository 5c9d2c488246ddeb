// The controls of a run in training, within the time bar.

import type { LiveEntry } from "../state/live-runs";
import {
  PACES,
  pace,
  pauseOrGoOn,
  restart,
  restarting,
  setPace,
  stepBy,
} from "../state/live-control";

export function LiveBar({ live }: { live: LiveEntry }) {
  const { training, epoch, stepInEpoch, stepsPerEpoch, goal } = live.now.value;
  const over = live.info.diverged !== null;
  return (
    <span class="live-bar" role="group" aria-label="Training">
      <button
        class="primary"
        disabled={over}
        title={training ? "Stop training for now" : "Train on"}
        onClick={() => pauseOrGoOn(live)}
      >
        {training ? "Stop" : "Train"}
      </button>
      <button
        disabled={training || over}
        title="Train for one epoch"
        onClick={() => stepBy(live, "epoch")}
      >
        +1 epoch
      </button>
      <button
        disabled={training || over}
        title="Train for one batch"
        onClick={() => stepBy(live, "batch")}
      >
        +1 batch
      </button>
      <button
        disabled={restarting.value}
        title={
          live.parent ? "Again from where it was branched" : "From the start, with the same seed"
        }
        onClick={() => void restart(live)}
      >
        Restart
      </button>
      <span class="setting">
        pace
        <select
          aria-label="pace of training"
          value={String(pace.value)}
          onChange={({ currentTarget: { value } }) =>
            setPace(live, value === "null" ? null : Number(value))
          }
        >
          {PACES.map((each) => (
            <option value={String(each)}>{each === null ? "full" : `${each} epochs/s`}</option>
          ))}
        </select>
      </span>
      <span class="live-now" role="status">
        {over
          ? `diverged at epoch ${live.info.diverged}`
          : training
            ? `training: ${epoch} of ${goal}`
            : stepInEpoch
              ? `epoch ${epoch}, batch ${stepInEpoch} of ${stepsPerEpoch}`
              : `trained to ${epoch}`}
      </span>
    </span>
  );
}

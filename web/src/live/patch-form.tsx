// A value from another sequence or epoch, given to every sequence.

import { useState } from "preact/hooks";
import { PATCH_SITES, type PatchSite } from "../model/scene/patches";
import type { Sequences } from "../model/types";
import { pinned, slotEpoch, trouble, type Slot } from "../state/page-state";
import { setPatch } from "../state/what-if";
import { WholeField } from "./whole-field";

const SITES: Record<PatchSite, string> = {
  attention: "attention",
  sequence: "sequence embedding",
  hidden: "hidden unit",
  feed_forward: "feed-forward output",
};

export function PatchForm({ slot }: { slot: Slot }) {
  const marked = pinned.value?.kind === "sequence" ? pinned.value.index : 0;
  const [site, setSite] = useState<PatchSite>("attention");
  const [unit, setUnit] = useState(0);
  const [chosen, setChosen] = useState<number | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const sequences = slot.sequences.value;
  const sequence = Math.min(chosen ?? marked, sequences.count - 1);
  const epoch = at ?? slotEpoch(slot);
  const now = slot.edited.value?.whatIf.patch ?? null;
  const put = (wanted: Parameters<typeof setPatch>[1]): void => {
    setPatch(slot, wanted).catch((error: Error) => (trouble.value = error.message));
  };
  return (
    <fieldset class="patch">
      <legend>Patch: every sequence gets</legend>
      <div class="edit-row">
        <span>the</span>
        <select
          aria-label="what to patch"
          value={site}
          onChange={(event) => setSite(event.currentTarget.value as PatchSite)}
        >
          {PATCH_SITES.map((each) => (
            <option value={each}>{SITES[each]}</option>
          ))}
        </select>
        {site === "hidden" && (
          <WholeField
            label="which hidden unit"
            most={slot.info.config.model.hidden - 1}
            value={unit}
            set={setUnit}
          />
        )}
      </div>
      <div class="edit-row">
        <span>of</span>
        <select
          aria-label="sequence to take it from"
          value={sequence}
          onChange={(event) => setChosen(Number(event.currentTarget.value))}
        >
          {Array.from({ length: sequences.count }, (_, i) => (
            <option value={i}>{tokensTold(sequences, i)}</option>
          ))}
        </select>
      </div>
      <div class="edit-row">
        <span>at epoch</span>
        <WholeField label="epoch of the patch" most={slot.info.epochs} value={epoch} set={setAt} />
        <button onClick={() => put({ site, unit, sequence, epoch })}>Patch</button>
        <button disabled={!now} onClick={() => put(null)}>
          Remove
        </button>
      </div>
      {now && (
        <p class="hint" role="status">
          {`Every sequence has the ${SITES[now.site]}${now.site === "hidden" ? ` ${now.unit}` : ""} of ` +
            `${tokensTold(sequences, now.sequence)} at epoch ${now.epoch}.`}
        </p>
      )}
    </fieldset>
  );
}

function tokensTold({ tokens, length }: Sequences, i: number): string {
  const row = Array.from(tokens.subarray(i * length, (i + 1) * length));
  return row.join(row.some((token) => token > 9) ? " " : "");
}

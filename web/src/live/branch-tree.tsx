// The runs that were trained here, and their branches: click one to see it.

import { changesTold, treeRows } from "../model/live/branch-tree";
import { short } from "../model/number-text";
import { forgetLive, liveRuns, type LiveEntry } from "../state/live-runs";
import { openBeside, openRun, slots } from "../state/page-state";

export function BranchTree() {
  if (!liveRuns.value.length) return null;
  return (
    <section class="card branch-tree" aria-label="Trained here">
      <h2>Trained here</h2>
      <ul>
        {treeRows(liveRuns.value).map(({ entry, depth }) => (
          <Row key={entry.id} entry={entry} depth={depth} />
        ))}
      </ul>
    </section>
  );
}

function Row({ entry, depth }: { entry: LiveEntry; depth: number }) {
  const { id, name, parent, facts, curves } = entry;
  const { epoch, training } = entry.now.value;
  const shown = slots.value.findIndex((slot) => slot.info.id === id);
  const changed = changesTold(facts.edits, parent?.epoch ?? 0);
  const loss = curves["train_loss"]?.[epoch];
  const from = parent ? `from epoch ${parent.epoch}` : `seed ${facts.seed}`;
  return (
    <li style={{ paddingLeft: `${Math.min(depth, 6) * 12}px` }}>
      <button
        class="plain open"
        aria-current={shown >= 0}
        title={`Open ${name}${changed ? `: ${changed}` : ""}`}
        onClick={() => openRun(id)}
      >
        <b>{name}</b> {from}
        {changed && `: ${changed}`}
        <small>
          {training ? "training, " : ""}epoch {epoch}, train {short(loss)}
        </small>
      </button>
      {slots.value.length > 0 && shown < 0 && (
        <button class="plain" title="Beside the run that is open" onClick={() => openBeside(id)}>
          beside
        </button>
      )}
      {shown < 0 && (
        <button
          class="plain"
          aria-label={`Forget ${name}`}
          title="Forget it"
          onClick={() => forgetLive(id)}
        >
          ✕
        </button>
      )}
    </li>
  );
}

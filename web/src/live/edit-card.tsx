// Changing a run by hand, by keyboard or pointer: which vector, its numbers, what is switched off, what
// comes from elsewhere; and training on from there.

import { useState } from "preact/hooks";
import { short } from "../model/number-text";
import type { Movable } from "../model/live/weight-edits";
import { runsBeside, slotEpoch, slots, trouble, type Slot } from "../state/page-state";
import {
  leaveEdits,
  moveVector,
  redoEdit,
  takeVector,
  toggleCut,
  undoEdit,
  vectorNow,
} from "../state/what-if";
import { NumberField } from "./number-field";
import { PatchForm } from "./patch-form";
import { TrainOn } from "./train-on";
import { WholeField } from "./whole-field";

const NAMES: Record<Movable["parameter"], string> = {
  token_embedding: "token",
  position_embedding: "position",
  query: "query",
  receptors: "receptor",
  assemblers: "assembler",
};
const MOST_NUMBERS = 16; // of a vector that are typed

/** Of two runs the one that was changed, or the one that is chosen. */
export function EditCard() {
  const runs = slots.value.filter((slot) => slot.role === "run");
  const [side, setSide] = useState(0);
  const slot = runs.find((each) => each.edited.value) ?? runs[side] ?? runs[0];
  if (!slot) return null;
  return (
    <section class="card edit-card" aria-label="Change it">
      <h2>
        Change it <small>at epoch {slotEpoch(slot)}</small>
        {runsBeside.value && (
          <select
            aria-label="which run to change"
            value={slot.index}
            disabled={slot.edited.value !== null}
            onChange={(event) => setSide(Number(event.currentTarget.value))}
          >
            <option value={0}>left</option>
            <option value={1}>right</option>
          </select>
        )}
      </h2>
      <Editor key={slot.info.id} slot={slot} />
    </section>
  );
}

function Editor({ slot }: { slot: Slot }) {
  const [parameter, setParameter] = useState<Movable["parameter"]>("token_embedding");
  const [index, setIndex] = useState(0);
  const [frozen, setFrozen] = useState<readonly Movable[]>([]);
  const count = countOf(slot, parameter);
  const movable: Movable = { parameter, index: Math.min(index, count - 1) };
  const edited = slot.edited.value;
  return (
    <>
      <p class="hint">Drag a point or the query, or type its numbers. Every panel answers.</p>
      <div class="edit-what">
        <select
          aria-label="what to change"
          value={parameter}
          onChange={(event) => {
            setParameter(event.currentTarget.value as Movable["parameter"]);
            setIndex(0);
          }}
        >
          {Object.entries(NAMES).map(([each, name]) => (
            <option value={each}>{name}</option>
          ))}
        </select>
        {parameter !== "query" && (
          <WholeField label="which one" most={count - 1} value={movable.index} set={setIndex} />
        )}
      </div>
      <VectorFields slot={slot} movable={movable} />
      {edited && <Answer slot={slot} />}
      <div class="buttons edit-steps">
        <button disabled={!edited?.canUndo} onClick={() => undoEdit(slot)} title="Undo (Ctrl Z)">
          Undo
        </button>
        <button
          disabled={!edited?.canRedo}
          onClick={() => redoEdit(slot)}
          title="Redo (Ctrl Shift Z)"
        >
          Redo
        </button>
        <button disabled={!edited} onClick={() => leaveEdits(slot)}>
          As it was
        </button>
      </div>
      <details>
        <summary>Switch off, freeze, patch</summary>
        <CutBox slot={slot} movable={movable} />
        <FreezeBox movable={movable} frozen={frozen} set={setFrozen} />
        <TakeForm slot={slot} movable={movable} />
        <PatchForm slot={slot} />
      </details>
      <TrainOn slot={slot} frozen={frozen} />
    </>
  );
}

function VectorFields({ slot, movable }: { slot: Slot; movable: Movable }) {
  const vector = vectorNow(slot, movable);
  const [refused, setRefused] = useState<string | null>(null);
  if (!vector) return null;
  const set = (i: number, text: string): void => {
    const value = Number(text);
    const good = text.trim() !== "" && Number.isFinite(Math.fround(value));
    setRefused(good ? null : `Expected a finite number, but got '${text}'.`);
    if (good) moveVector(slot, movable, Object.assign(vector.slice(), { [i]: value }));
  };
  return (
    <div class="edit-numbers">
      {Array.from(vector.subarray(0, MOST_NUMBERS), (value, i) => (
        <NumberField label={`number ${i + 1}`} value={value} set={(text) => set(i, text)} />
      ))}
      {vector.length > MOST_NUMBERS && <small>and {vector.length - MOST_NUMBERS} more</small>}
      {refused && (
        <p class="trouble" role="alert">
          {refused}
        </p>
      )}
    </div>
  );
}

/** What can be switched off of what is chosen: a position's attention, a hidden unit. */
function CutBox({ slot, movable: { parameter, index } }: { slot: Slot; movable: Movable }) {
  const part =
    parameter === "position_embedding"
      ? "positions"
      : parameter === "receptors" || parameter === "assemblers"
        ? "hidden"
        : null;
  if (!part) return null;
  const cut = slot.edited.value?.whatIf.cut[part].includes(index) ?? false;
  return (
    <label class="cut">
      <input type="checkbox" checked={cut} onChange={() => toggleCut(slot, part, index)} />{" "}
      {part === "positions" ? `no attention to position ${index}` : `hidden unit ${index} off`}
    </label>
  );
}

function FreezeBox(props: {
  movable: Movable;
  frozen: readonly Movable[];
  set: (frozen: readonly Movable[]) => void;
}) {
  const { movable, frozen, set } = props;
  const same = (each: Movable): boolean =>
    each.parameter === movable.parameter && each.index === movable.index;
  const others = frozen.filter((each) => !same(each));
  const is = others.length < frozen.length;
  return (
    <label class="cut">
      <input
        type="checkbox"
        checked={is}
        onChange={() => set(is ? others : [...frozen, movable])}
      />{" "}
      freeze {nameOf(movable)} when it trains on
      {others.length > 0 && ` (and ${others.map(nameOf).join(", ")})`}
    </label>
  );
}

export const nameOf = ({ parameter, index }: Movable): string =>
  parameter === "query" ? "the query" : `${NAMES[parameter]} ${index}`;

/** The same vector, as it is at another epoch. */
function TakeForm({ slot, movable }: { slot: Slot; movable: Movable }) {
  const [epoch, setEpoch] = useState(0);
  const take = (): void => {
    takeVector(slot, movable, epoch).catch((error: Error) => (trouble.value = error.message));
  };
  return (
    <div class="edit-row">
      <span>{nameOf(movable)} as at epoch</span>
      <WholeField
        label="epoch to take it from"
        most={slot.info.epochs}
        value={epoch}
        set={setEpoch}
      />
      <button onClick={take}>Take</button>
    </div>
  );
}

/** What the change does to the loss. */
function Answer({ slot }: { slot: Slot }) {
  const scores = slot.scores.value;
  const at = slotEpoch(slot);
  const told = (["train", "test"] as const).flatMap((set) => {
    const [now, was] = [scores?.[set], slot.curves[`${set}_loss`]?.[at]];
    return now ? [`${set} loss ${short(now.loss)}, it was ${short(was)}`] : [];
  });
  return (
    <p class="answer" role="status">
      {told.length ? `${told.join("; ")}.` : "Being computed."}
    </p>
  );
}

function countOf({ info }: Slot, parameter: Movable["parameter"]): number {
  const [rows = 1, columns = 1] = info.shapes[parameter] ?? [];
  return parameter === "query" ? 1 : parameter === "assemblers" ? columns : rows;
}

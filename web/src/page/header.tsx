// The head of the page: which run this is, what the analysis calls it, and the page's menus.

import { isStandard } from "../model/kernel/options";
import { percent, short } from "../model/number-text";
import { hasOwnData } from "../model/own-data";
import { isSolved } from "../model/server/answers";
import { OPTION_SYMBOLS } from "../model/symbols";
import { PANELS, type Panel, type RunInfo } from "../model/types";
import { appliesTo, TITLES } from "../panels/all-panels";
import { allRuns, store } from "../state/all-runs";
import { theme } from "../state/colour-scheme";
import {
  change,
  firstSlot,
  slots,
  toggleHidden,
  seen,
  verdictOf,
  type Slot,
} from "../state/page-state";
import { Dropdown } from "./dropdown";
import { startIntro } from "./intro";
import { SequencesForm } from "./sequences-form";

export function Header() {
  const slot = seen.page.value === "run" ? firstSlot.value : null;
  const many = (allRuns.value?.table.count ?? 0) > 1;
  return (
    <header class="top">
      <h1>dynascope</h1>
      <span class="where">
        {store.value?.name}
        {slot && ` › ${namesOf(slots.value)}`}
      </span>
      {slot && slots.value.length === 1 && <Chips slot={slot} />}
      <span class="gap" />
      {slot && <Dropdown name="Panels">{() => <PanelChoices />}</Dropdown>}
      {slot && <Dropdown name="Sequences">{(close) => <SequencesForm close={close} />}</Dropdown>}
      {many && (
        <button
          onClick={() => change({ page: seen.page.value === "run" ? "runs" : "run" })}
          disabled={seen.page.value === "runs" && !seen.runs.value.length}
        >
          {seen.page.value === "run" ? "All runs" : "Back to the run"}
        </button>
      )}
      <button
        aria-label="Light or dark"
        title="Light or dark"
        onClick={() => change({ theme: theme.value === "dark" ? "light" : "dark" })}
      >
        {theme.value === "dark" ? "☀" : "☾"}
      </button>
      <button aria-label="Introduction" title="What am I looking at?" onClick={startIntro}>
        ?
      </button>
    </header>
  );
}

/** The run, or both of two that are compared. */
function namesOf(all: readonly Slot[]): string {
  const names = all.map(({ info }) => `seed ${info.seed} · ${info.id.slice(0, 6)}`);
  return [...new Set(names)].join(" | ");
}

function Chips({ slot }: { slot: Slot }) {
  const verdict = verdictOf(slot);
  const solved = verdict !== null && isSolved(verdict);
  const tested = slot.info.summary["accuracy"];
  return (
    <>
      {chipsOf(slot.info).map((text) => (
        <span class="chip">{text}</span>
      ))}
      {slot.info.diverged !== null && (
        <span class="chip bad">diverged at epoch {slot.info.diverged}</span>
      )}
      {!slot.analysis.value && <span class="chip">being analysed</span>}
      {verdict && (
        <span
          class={solved ? "chip good" : "chip muted"}
          title={slot.analysis.value?.phases?.told ?? ""}
        >
          at the end: {verdict} {solved && "head "}· test {percent(tested)}
        </span>
      )}
    </>
  );
}

function chipsOf({ config, task }: RunInfo): string[] {
  const { model, training, precision } = config;
  const { vocab: p, length: n, relevant: k, dim: d, hidden: h } = OPTION_SYMBOLS;
  const unless = (name: string, value: string): string[] =>
    isStandard(name, value) ? [] : [value];
  const counted = hasOwnData(task) ? `${task.classes} classes` : `${k} ${task.positions.length}`;
  return [
    ...unless("task.name", task.name),
    `${p} ${task.vocab} · ${n} ${task.length} · ${counted}`,
    [
      `${d} ${model.dim}`,
      `${h} ${model.hidden}`,
      ...unless("model.norm", model.norm),
      ...unless("model.activation", model.activation),
    ].join(" · "),
    `${training.optimizer} ${short(training.lr)} · batch ${training.batch}`,
    ...unless("precision", precision),
  ];
}

const shownAnywhere = (name: Panel): boolean =>
  slots.value.some((slot) => appliesTo(name, slot.info.task));

function PanelChoices() {
  const hidden = seen.hidden.value;
  return (
    <>
      <div class="boxes">
        {PANELS.filter(shownAnywhere).map((name) => (
          <label>
            <input
              type="checkbox"
              checked={!hidden.includes(name)}
              onChange={() => toggleHidden(name)}
            />{" "}
            {TITLES[name].title} <i>{TITLES[name].formula}</i>
          </label>
        ))}
      </div>
      <div class="buttons">
        <button onClick={() => change({ hidden: [] })}>Show all</button>
      </div>
    </>
  );
}

// The head of the page: which run this is, what the analysis calls it, and the page's menus.

import { isStandard } from "../model/kernel/options";
import { optionTerm, sumTerm } from "../model/glossary";
import { percent, short } from "../model/number-text";
import { hasOwnData } from "../model/own-data";
import { isSolved } from "../model/server/answers";
import { OPTION_SYMBOLS } from "../model/symbols";
import { PANELS, type Panel, type RunInfo } from "../model/types";
import { DEFAULT_VIEW } from "../model/view-address";
import { appliesTo, TITLES } from "../panels/all-panels";
import { allRuns, store } from "../state/all-runs";
import { theme } from "../state/colour-scheme";
import {
  change,
  firstSlot,
  slots,
  sumKindOf,
  toggleHidden,
  seen,
  verdictOf,
  type Slot,
} from "../state/page-state";
import { presenting, togglePresented, togglePresenting } from "../state/presentation";
import { namesOf } from "../stage/stage-composer";
import { Term } from "../terms/term";
import { Dropdown } from "./dropdown";
import { startIntro } from "./intro";
import { GuideList } from "../guided/guide-list";
import { LiveForm } from "../live/live-form";
import { SeedsButton } from "../live/seeds-button";
import { SaveMenu } from "./save-menu";
import { SequencesForm } from "./sequences-form";

export function Header() {
  const slot = seen.page.value === "run" ? firstSlot.value : null;
  const many = (allRuns.value?.table.count ?? 0) > 1;
  return (
    <header class="top">
      <h1>dynascope</h1>
      <span class="where">
        {[store.value?.name, slot && namesOf(slots.value)].filter(Boolean).join(" › ")}
      </span>
      {slot && slots.value.length === 1 && <Chips slot={slot} />}
      <span class="gap" />
      {!presenting.value && (
        <Dropdown name="Train">{(close) => <LiveForm close={close} />}</Dropdown>
      )}
      {!presenting.value && (
        <Dropdown name="Guided">{(close) => <GuideList close={close} />}</Dropdown>
      )}
      {slot && <Dropdown name="Panels">{() => <PanelChoices />}</Dropdown>}
      {slot && !presenting.value && (
        <Dropdown name="Sequences">{(close) => <SequencesForm close={close} />}</Dropdown>
      )}
      {slot && <Dropdown name="Save">{(close) => <SaveMenu close={close} />}</Dropdown>}
      {!presenting.value && <SeedsButton />}
      {many && !presenting.value && (
        <button
          onClick={() => change({ page: seen.page.value === "runs" ? "run" : "runs" })}
          disabled={seen.page.value === "runs" && !seen.runs.value.length}
        >
          {seen.page.value === "runs" ? "Back to the run" : "All runs"}
        </button>
      )}
      {slot && (
        <button
          aria-pressed={presenting.value}
          title="A few large panels, for a room (P); Escape leaves it"
          onClick={togglePresenting}
        >
          Present
        </button>
      )}
      <button
        aria-label="Light or dark"
        title="Light or dark"
        onClick={() => change({ theme: theme.value === "dark" ? "light" : "dark" })}
      >
        {theme.value === "dark" ? "☀" : "☾"}
      </button>
      {!presenting.value && (
        <button aria-label="Introduction" title="What am I looking at?" onClick={startIntro}>
          ?
        </button>
      )}
    </header>
  );
}

function Chips({ slot }: { slot: Slot }) {
  const [sum, verdict] = [sumKindOf(slot), verdictOf(slot)];
  const solved = verdict !== null && isSolved(verdict);
  const tested = slot.info.summary["accuracy"];
  return (
    <>
      {chipsOf(slot.info).map(([of, text]) => (
        <Term of={of} class="chip of-options">
          {text}
        </Term>
      ))}
      {slot.info.diverged !== null && (
        <Term of="diverged" class="chip bad">
          diverged at epoch {slot.info.diverged}
        </Term>
      )}
      {verdict && (
        <Term
          of={sum ? `${sumTerm(sum)} ${verdict}` : verdict}
          detail={endingTold(slot)}
          class={solved ? "chip good" : "chip muted"}
        >
          at the end: {sum && `${sum} · `}
          {verdict}
          <span class="tested"> · test {percent(tested)}</span>
        </Term>
      )}
    </>
  );
}

/** The sum and the phases, in sentences. */
function endingTold({ analysis }: Slot): string {
  const { sum, phases } = analysis.value ?? {};
  return [sum?.told, phases?.told].filter(Boolean).join(". ");
}

/** Each with what explains it. */
function chipsOf({ config, task }: RunInfo): [of: string, text: string][] {
  const { model, training, precision } = config;
  const { vocab: p, length: n, relevant: k, dim: d, hidden: h } = OPTION_SYMBOLS;
  const unless = (name: string, value: string): string[] =>
    isStandard(name, value) ? [] : [value];
  const counted = hasOwnData(task) ? `${task.classes} classes` : `${k} ${task.positions.length}`;
  return [
    ...unless("task.name", task.name).map((text): [string, string] => [
      hasOwnData(task) ? "own-data" : optionTerm("task.name"),
      text,
    ]),
    ["task-size", `${p} ${task.vocab} · ${n} ${task.length} · ${counted}`],
    [
      "model-size",
      [
        `${d} ${model.dim}`,
        `${h} ${model.hidden}`,
        ...unless("model.norm", model.norm),
        ...unless("model.activation", model.activation),
      ].join(" · "),
    ],
    ["training", `${training.optimizer} ${short(training.lr)} · batch ${training.batch}`],
    ...unless("precision", precision).map((text): [string, string] => [
      optionTerm("precision"),
      text,
    ]),
  ];
}

const shownAnywhere = (name: Panel): boolean => slots.value.some((slot) => appliesTo(name, slot));

function PanelChoices() {
  const [hidden, presented] = [seen.hidden.value, seen.presented.value];
  const present = presenting.value;
  const shown = (name: Panel): boolean =>
    present ? presented.includes(name) : !hidden.includes(name);
  return (
    <>
      <div class="boxes">
        {PANELS.filter(shownAnywhere).map((name) => (
          <label>
            <input
              type="checkbox"
              checked={shown(name)}
              onChange={() => (present ? togglePresented(name) : toggleHidden(name))}
            />{" "}
            {TITLES[name].title} <i>{TITLES[name].formula}</i>
          </label>
        ))}
      </div>
      <div class="buttons">
        {present ? (
          <button onClick={() => change({ presented: DEFAULT_VIEW.presented })}>As at first</button>
        ) : (
          <button onClick={() => change({ hidden: [] })}>Show all</button>
        )}
      </div>
    </>
  );
}

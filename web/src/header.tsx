// The head of the page: which run this is, what the analysis calls it, and the page's menus.

import { useEffect, useRef, useState } from "preact/hooks";
import { percent, short } from "./format";
import type { Config } from "./model/types";
import { PANELS } from "./model/types";
import { TITLES } from "./panels/list";
import { SequencesForm } from "./sequences";
import { startIntro } from "./intro";
import { change, main, slotEpoch, slots, toggleHidden, seen, type Slot } from "./state";
import { loaded, store } from "./table";
import { theme } from "./look";

export function Header() {
  const slot = seen.page.value === "run" ? main.value : null;
  const many = (loaded.value?.table.count ?? 0) > 1;
  return (
    <header class="top">
      <h1>dynascope</h1>
      <span class="where">
        {store.value?.name}
        {slot && ` › ${namesOf(slots.value)}`}
      </span>
      {slot && slots.value.length === 1 && <Chips slot={slot} />}
      <span class="gap" />
      {slot && <Menu name="Panels">{() => <PanelMenu />}</Menu>}
      {slot && <Menu name="Sequences">{(close) => <SequencesForm close={close} />}</Menu>}
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
  const verdict = slot.analysis.value?.circuit?.verdict.name;
  const solved = verdict !== undefined && verdict !== "unsolved";
  const tested = slot.info.summary["accuracy"];
  return (
    <>
      {chipsOf(slot.info.config, slot.info.positions.length).map((text) => (
        <span class="chip">{text}</span>
      ))}
      {slot.info.diverged !== null && (
        <span class="chip bad">diverged at epoch {slot.info.diverged}</span>
      )}
      <Kept slot={slot} />
      {!slot.analysis.value && <span class="chip">being analysed</span>}
      {verdict && (
        <span
          class={solved ? "chip good" : "chip muted"}
          title={slot.analysis.value?.phases?.told ?? ""}
        >
          {verdict} {solved && "head "}· test {percent(tested)}
        </span>
      )}
    </>
  );
}

/** Weights may be kept at fewer epochs than losses: then the panels show the last kept before. */
function Kept({ slot }: { slot: Slot }) {
  const { scene, info } = slot;
  const at = slotEpoch(slot);
  const shown = scene.value?.epoch;
  if (shown === undefined || shown === at || info.weightEpochs.includes(at)) return null;
  return (
    <span class="chip" title={`Weights are kept at ${info.weightEpochs.length} epochs.`}>
      panels: epoch {shown}
    </span>
  );
}

function chipsOf({ task, model, training, precision }: Config, relevant: number): string[] {
  const model_ = [
    `d ${model.dim}`,
    `h ${model.hidden}`,
    ...(model.norm === "rms" ? [] : [model.norm]),
    ...(model.activation === "gelu" ? [] : [model.activation]),
  ];
  return [
    ...(task.name === "modular-addition" ? [] : [task.name]),
    `p ${task.vocab} · N ${task.length} · k ${relevant}`,
    model_.join(" · "),
    `${training.optimizer} ${short(training.lr)} · batch ${training.batch}`,
    ...(precision === "float64" ? ["float64"] : []),
  ];
}

function Menu({
  name,
  children,
}: {
  name: string;
  children: (close: () => void) => preact.JSX.Element;
}) {
  const [open, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  const root = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (!open) return;
    const away = (event: PointerEvent): void => {
      if (!(event.target instanceof Node && root.current?.contains(event.target))) setOpen(false);
    };
    const escape = (event: KeyboardEvent): void => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      setOpen(false);
    };
    addEventListener("pointerdown", away);
    addEventListener("keydown", escape, true);
    return () => {
      removeEventListener("pointerdown", away);
      removeEventListener("keydown", escape, true);
    };
  }, [open]);
  return (
    <span class="dropdown" ref={root}>
      <button aria-expanded={open} aria-haspopup="dialog" onClick={() => setOpen(!open)}>
        {name}
      </button>
      {open && (
        <div class="sheet" role="dialog" aria-label={name}>
          {children(close)}
        </div>
      )}
    </span>
  );
}

function PanelMenu() {
  const hidden = seen.hidden.value;
  return (
    <>
      <div class="boxes">
        {PANELS.map((name) => (
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

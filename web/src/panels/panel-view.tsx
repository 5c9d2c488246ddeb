// One panel: title, tools, and its picture.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { explanationsOf } from "../model/glossary";
import type { Panel } from "../model/types";
import { askCurvature } from "../state/open-runs";
import { change, seek, toggled, toggleHidden, trouble, seen, type Slot } from "../state/page-state";
import { isMarked } from "../state/story-view";
import { Term } from "../terms/term";
import { ActionMenu } from "./action-menu";
import { hasScales, painterOf, panelTerms, TITLES } from "./all-panels";
import { Curves } from "./curves";
import type { Frame } from "./painter";
import { planeShare, whyEmpty } from "./panel-notes";
import { PanelCanvas } from "./panel-canvas";
import { save, type FileFormat } from "./save-panel";

export function PanelView({ name, slot }: { name: Panel; slot: Slot }) {
  const painter = useMemo(() => painterOf(name), [name, slot]);
  const frame = useRef<() => Frame | null>(() => null);
  const big = seen.big.value === name;
  const marked = isMarked(name, slot);
  useEffect(() => () => forgetMap(slot, name), [slot, name]);
  const { title, formula } = TITLES[name];
  const terms = panelTerms(name, slot.info.task, seen.linear.value.includes(name));
  const [about] = explanationsOf(terms); // the axes are told with the title
  const write = (format: FileFormat): void => {
    const now = frame.current();
    if (now)
      save(name, format, painter, now).catch((error: Error) => (trouble.value = error.message));
  };
  return (
    <section
      class={`panel${big ? " big" : ""}${marked ? " marked" : ""}`}
      data-panel={name}
      aria-label={`${title} ${formula}`}
    >
      <header>
        <h3>
          <Term of={terms}>{title}</Term>
        </h3>
        <span class="formula">{formula}</span>
        <Tools title={title} big={big} name={name} write={write} />
      </header>
      <div class="canvas">
        <PanelCanvas
          painter={painter}
          slot={slot}
          big={big}
          label={`${title}. ${about?.text}`}
          onReady={(get) => (frame.current = get)}
          {...(painter instanceof Curves
            ? { onSeek: (x: number) => seek(painter.epochAt(x) ?? seen.epoch.value) }
            : {})}
        />
        <ProjectionNote name={name} slot={slot} />
        <Missing name={name} slot={slot} />
      </div>
    </section>
  );
}

/** A map that is not seen is not computed. */
function forgetMap(slot: Slot, name: Panel): void {
  if (name !== "decision_map" && name !== "output_map") return;
  const { [name]: gone, ...rest } = slot.mapExtents.peek();
  if (gone) slot.mapExtents.value = rest;
}

/** For d > 2: that this is a projection, and how much of the variance it keeps. */
function ProjectionNote({ name, slot }: { name: Panel; slot: Slot }) {
  const kept = planeShare(name, slot);
  if (kept === null) return null;
  const told = `Here: from ${slot.info.config.model.dim} dimensions, with ${kept} of the variance.`;
  return (
    <span class="plane">
      <Term of="plane" detail={told}>
        plane, {kept}
      </Term>
    </span>
  );
}

/** What a panel says while it has nothing to show. */
function Missing({ name, slot }: { name: Panel; slot: Slot }) {
  const why = whyEmpty(name, slot);
  if (why === null) return null;
  if (name === "hessian") {
    const asked = slot.curvature.value === "asked";
    return (
      <div class="empty">
        <span>
          {asked && "Computing. "}
          {why}
        </span>
        <button disabled={asked} onClick={() => askCurvature(slot)}>
          Compute
        </button>
      </div>
    );
  }
  return <div class="empty">{why}</div>;
}

function Tools({
  title,
  name,
  big,
  write,
}: {
  title: string;
  name: Panel;
  big: boolean;
  write: (format: FileFormat) => void;
}) {
  const [open, setOpen] = useState(false);
  const pick = (action: () => void) => () => {
    setOpen(false);
    action();
  };
  return (
    <>
      <span class="tools">
        <button
          class="plain"
          aria-label={`${title}: save or hide`}
          aria-haspopup="menu"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          ⋯
        </button>
        <button
          class="plain"
          aria-label={`${title}: ${big ? "make small" : "enlarge"}`}
          aria-pressed={big}
          onClick={() => change({ big: big ? null : name })}
        >
          {big ? "⤡" : "⤢"}
        </button>
      </span>
      {open && (
        <ActionMenu label={`${title}: save or hide`} close={() => setOpen(false)}>
          {(["svg", "png", "csv"] as const).map((format) => (
            <button role="menuitem" onClick={pick(() => write(format))}>
              {format === "csv" ? "Data as CSV" : `Save as ${format.toUpperCase()}`}
            </button>
          ))}
          {hasScales(name) && (
            <button
              role="menuitem"
              onClick={pick(() => change({ linear: toggled(seen.linear.value, name) }))}
            >
              {seen.linear.value.includes(name) ? "Logarithmic axis" : "Linear axis"}
            </button>
          )}
          <button role="menuitem" onClick={pick(() => toggleHidden(name))}>
            Hide
          </button>
        </ActionMenu>
      )}
    </>
  );
}

// "Under the pointer": the numbers of what is marked.

import type { ComponentChildren } from "preact";
import { FACT_TERMS } from "../model/glossary";
import { FARTHEST, marginOf } from "../model/margin";
import type { Mark } from "../model/marks";
import { nats, percent, short } from "../model/number-text";
import { NO_TARGET } from "../model/own-data";
import { sequenceName } from "../model/sequences";
import type { PointPanel, Scene } from "../model/types";
import { mark, pinned, slots, type Slot } from "../state/page-state";
import { Term } from "../terms/term";
import { WhichRun } from "./which-run";

/** A value of null: there is none for this task. */
type Fact = [name: string, value: ComponentChildren, mono?: boolean];

export function PointerCard() {
  const marked = mark.value ?? pinned.value;
  const slot = marked && slots.value[marked.slot];
  const scene = slot?.scene.value;
  const facts =
    marked && slot && scene
      ? factsOf(marked, slot, scene).filter(([, value]) => value !== null)
      : null;
  return (
    <section class="card pointer" aria-live="off">
      <h2>
        Under the pointer {pinned.value && <small>pinned</small>} {slot && <WhichRun slot={slot} />}
      </h2>
      {facts ? (
        <dl class="facts">
          {facts.map(([name, value, mono]) => (
            <>
              <dt>
                <Term of={FACT_TERMS[name] ?? ""}>{name}</Term>
              </dt>
              <dd class={mono ? "mono" : ""}>{value}</dd>
            </>
          ))}
        </dl>
      ) : (
        <p class="hint">
          Point at a token, position, sequence or hidden unit to find it in every panel; click to
          keep it.
        </p>
      )}
    </section>
  );
}

function factsOf(marked: Mark, slot: Slot, scene: Scene): Fact[] {
  switch (marked.kind) {
    case "token":
      return [
        ["token", marked.index, true],
        place("E", scene, "tokens", slot.plan.value.tokens.indexOf(marked.index)),
      ];
    case "position":
      return positionFacts(marked.index, slot, scene);
    case "pair":
      return pairFacts(marked.index, slot, scene);
    case "sequence":
      return sequenceFacts(marked.index, slot, scene);
    case "unit":
      return unitFacts(marked.index, slot, scene);
  }
}

function place(name: string, scene: Scene, panel: PointPanel, index: number): Fact {
  const { x, y } = scene.points[panel];
  return [name, `${short(x[index])}, ${short(y[index])}`];
}

/** null: nobody knows. */
function isRelevant(position: number, { info }: Slot): boolean | null {
  return info.task.positions?.includes(position) ?? null;
}

function positionFacts(position: number, slot: Slot, scene: Scene): Fact[] {
  const { count, length } = slot.sequences.value;
  const relevant = isRelevant(position, slot);
  let sum = 0;
  for (let i = 0; i < count; i++) sum += scene.attention[i * length + position]!;
  return [
    [
      "position",
      relevant === null ? position : `${position}, ${relevant ? "relevant" : "irrelevant"}`,
    ],
    place("P", scene, "positions", slot.plan.value.positions.indexOf(position)),
    ["mean attention", percent(sum / count)],
  ];
}

function pairFacts(pair: number, slot: Slot, scene: Scene): Fact[] {
  const { plan } = slot;
  const { length, positions, pairTokens } = plan.value;
  const [token, position] = [Math.floor(pair / length), pair % length];
  const index = pairTokens.indexOf(token) * positions.length + positions.indexOf(position);
  const relevant = isRelevant(position, slot);
  return [
    ["token at position", `${token} at ${position}`],
    ["relevant", relevant === null ? null : relevant ? "yes" : "no"],
    place("E + P", scene, "embeddings", index),
    ["|E + P|", short(scene.norms.embeddings[index])],
    place("V z", scene, "values", index),
  ];
}

function sequenceFacts(index: number, slot: Slot, scene: Scene): Fact[] {
  const { targets, group, groupNames, positions } = slot.sequences.value;
  const { classes } = slot.plan.value;
  const prediction = scene.predictions[index] ?? 0;
  const target = targets[index] ?? 0;
  const probabilities = scene.probabilities.subarray(index * classes, (index + 1) * classes);
  const known = target !== NO_TARGET;
  const predicted = `${prediction} (${percent(probabilities[prediction])})`;
  const margin = known ? marginOf(probabilities, target) : NaN;
  return [
    ["sequence", sequenceName(slot.sequences.value, index), true],
    ["multiset", positions && groupNames[group[index] ?? 0]],
    ["sum", sumOf(index, slot)],
    ["target / prediction", `${known ? target : "none"} / ${predicted}`],
    ["probability of the target", known ? percent(probabilities[target], 2) : null],
    ["margin", known ? nats(margin, FARTHEST[slot.info.config.precision]) : null],
    place("ξ", scene, "sequence", index),
    ["|ξ|", short(scene.norms.sequence[index])],
  ];
}

/** The value of the sum by which sequences are coloured. */
function sumOf(index: number, { sequences, grouped }: Slot): string | null {
  if (grouped.value === sequences.value) return null;
  const { group, groupNames } = grouped.value;
  return groupNames[group[index] ?? 0] ?? null;
}

function unitFacts(unit: number, slot: Slot, scene: Scene): Fact[] {
  const { units, hidden } = slot.plan.value;
  const { count } = slot.sequences.value;
  const index = units.indexOf(unit);
  let [active, most] = [0, -Infinity];
  for (let i = 0; hidden && i < count; i++) {
    const value = scene.hidden[i * hidden + unit] ?? 0;
    if (value > 0) active++;
    most = Math.max(most, value);
  }
  const facts: Fact[] = [
    ["hidden unit", unit],
    place("receptor", scene, "receptors", index),
    place("assembler", scene, "assemblers", index),
  ];
  if (hidden) facts.push(["above 0 for", percent(active / count, 0)], ["highest", short(most)]);
  return facts;
}

// Two runs side by side: where they differ.

import { optionTerm } from "../model/glossary";
import { percent, short } from "../model/number-text";
import { hasOwnData } from "../model/own-data";
import type { RunInfo } from "../model/types";
import {
  change,
  slotEpoch,
  slots,
  seen,
  sumKindOf,
  verdictOf,
  type Slot,
} from "../state/page-state";
import { Term } from "../terms/term";

const MOST = 8; // options that are listed

/** Rows that are not options. */
const ROW_TERMS: Readonly<Record<string, string>> = {
  seed: "seed",
  "test loss": "loss",
  "test accuracy": "accuracy.set",
  "sum, at end": "sum",
  "verdict, at end": "verdict",
};

type Row = [name: string, left: string, right: string];

/** The options of a run, as far as they have a meaning for it. */
function applying({ config, task }: RunInfo): object {
  if (!hasOwnData(task)) return config;
  return { ...config, task: { ...config.task, name: task.name, relevant: undefined } };
}

/** Options in which two configs differ, as "model.dim". */
function differences(a: object, b: object, path = ""): Row[] {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].flatMap((key): Row[] => {
    const [x, y] = [(a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]];
    if (JSON.stringify(x) === JSON.stringify(y)) return [];
    if (isTable(x) && isTable(y)) return differences(x, y, `${path}${key}.`);
    return [[path + key, told(x), told(y)]];
  });
}

function told(value: unknown): string {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.join(", ") || "none" : (JSON.stringify(value) ?? "–");
}

const isTable = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function CompareCard() {
  const [a, b] = slots.value;
  if (!a || !b) return null;
  const differing = differences(applying(a.info), applying(b.info));
  const judged = [a, b].some((slot) => !hasOwnData(slot.info.task));
  const summed = [a, b].some((slot) => slot.sumClient);
  const rows: Row[] = [
    ["seed", String(a.info.seed), String(b.info.seed)],
    ["epoch", String(slotEpoch(a)), String(slotEpoch(b))],
    ["test loss", short(at(a, "test_loss")), short(at(b, "test_loss"))],
    ["test accuracy", percent(at(a, "test_accuracy")), percent(at(b, "test_accuracy"))],
    ...(summed ? [["sum, at end", sumKind(a), sumKind(b)] satisfies Row] : []),
    ...(judged ? [["verdict, at end", verdict(a), verdict(b)] satisfies Row] : []),
    ...differing.slice(0, MOST),
  ];
  return (
    <section class="card">
      <h2>Two runs</h2>
      <table class="compare" aria-label="Where the two runs differ">
        <thead>
          <tr>
            <td />
            <th scope="col">left</th>
            <th scope="col">right</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, left, right]) => (
            <tr>
              <th scope="row" title={name}>
                <Term of={ROW_TERMS[name] ?? optionTerm(name)}>
                  {name === "task.name"
                    ? "task"
                    : name.slice(name.lastIndexOf(".") + 1).replaceAll("_", " ")}
                </Term>
              </th>
              <td>{left}</td>
              <td>{right}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {differing.length > MOST && <p class="hint">and {differing.length - MOST} more options</p>}
      <div class="buttons">
        <button onClick={() => change({ runs: [...seen.runs.value].reverse() })}>Swap</button>
        <button onClick={() => change({ runs: seen.runs.value.slice(0, 1) })}>
          Close the right one
        </button>
      </div>
    </section>
  );
}

/** Curves have at a branch's first epoch what was measured before its weights were changed. */
const at = (slot: Slot, curve: string): number | undefined =>
  slot.live?.parent?.epoch === slotEpoch(slot) ? undefined : slot.curves[curve]?.[slotEpoch(slot)];

const sumKind = (slot: Slot): string => sumKindOf(slot) ?? "–";

const verdict = (slot: Slot): string => verdictOf(slot) ?? "–";

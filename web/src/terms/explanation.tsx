// What is told of a word, beside it; and all descriptions, for those who do not see that.

import { useLayoutEffect, useRef } from "preact/hooks";
import { docsAddress, EXPLANATIONS, explanationsOf } from "../model/glossary";
import { isOffered } from "../state/all-runs";
import { explaining, type Explaining } from "./explaining";
import { placeBeside } from "./placing";
import { descriptionId, DETAIL } from "./term";

export function Explanations() {
  return (
    <>
      <Descriptions />
      {explaining.value && <Tooltip {...explaining.value} />}
    </>
  );
}

/** Elements that `aria-describedby` names: always there, so that no reader is too early. */
function Descriptions() {
  return (
    <div hidden>
      {[...EXPLANATIONS.values()].map(({ id, text }) => (
        <span id={descriptionId(id)}>{text}</span>
      ))}
    </div>
  );
}

function Tooltip({ target, ids, detail }: Explaining) {
  const root = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place(root.current, target));
  const told = explanationsOf(ids);
  const docs = [...new Set(told.map((entry) => entry.docs))];
  return (
    <div class="explanation" role="tooltip" ref={root}>
      {told.map(({ term, text }) => (
        <p>
          <b>{term}</b> {text}
        </p>
      ))}
      {detail && (
        <p class="detail" id={DETAIL}>
          {detail}
        </p>
      )}
      {docs.slice(0, isOffered("docs") ? 1 : 0).map((each) => (
        <p class="more">
          <a href={docsAddress(each)} target="_blank" rel="noopener" tabIndex={-1}>
            More in the docs
          </a>{" "}
          <kbd>?</kbd>
        </p>
      ))}
    </div>
  );
}

function place(tooltip: HTMLElement | null, target: HTMLElement): void {
  if (!tooltip) return;
  tooltip.style.removeProperty("max-height");
  const { left, top, right, bottom } = target.getBoundingClientRect();
  const window = { width: innerWidth, height: innerHeight };
  const size = { width: tooltip.offsetWidth, height: tooltip.offsetHeight };
  const found = placeBeside(
    { x0: left, y0: top, x1: right, y1: bottom },
    size,
    window,
    target.closest("li, tbody, .side") !== null,
  );
  tooltip.style.setProperty("left", `${found.x}px`);
  tooltip.style.setProperty("top", `${found.y}px`);
  tooltip.style.setProperty("max-height", `${found.height}px`);
}

/** The docs on what is being explained, or the glossary, in a tab of their own. */
export function openDocs(): void {
  if (!isOffered("docs")) return;
  const [first] = explanationsOf(explaining.value?.ids ?? "");
  open(docsAddress(first?.docs ?? "glossary.md"), "_blank", "noopener");
}

// Which word is being explained: what the pointer rests on, what the keyboard has come to, or what
// was touched. One listener for the whole page: an element only says what explains it.

import { signal } from "@preact/signals";
import { dismissable } from "../state/dismissal";

export interface Explaining {
  target: HTMLElement;
  ids: string;
  detail: string | null;
}

export const explaining = signal<Explaining | null>(null);

const PATIENCE = 350; // milliseconds that a mouse rests before it is told
const GRACE = 200; // and that it may take from the word to what is told of it
const TOOLTIP = ".explanation";

let timer = 0;
let touched = false; // by the last pointer
let release: (() => void) | null = null;

export function listenToTerms(): void {
  addEventListener("pointerover", point);
  document.documentElement.addEventListener("pointerleave", () => later(null, GRACE));
  addEventListener("pointerdown", press, true);
  addEventListener("click", followTouch, true);
  addEventListener("focusin", ({ target }) => {
    const term = termOf(target);
    if (term?.matches(":focus-visible")) explain(term);
    else if (!term) explain(null);
  });
  addEventListener("focusout", ({ target }) => {
    if (termOf(target) === explaining.value?.target) explain(null);
  });
  addEventListener("scroll", follow, { capture: true, passive: true });
  addEventListener("resize", () => explain(null));
  addEventListener("hashchange", () => explain(null));
}

function termOf(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>("[data-term]") : null;
}

/** Shows what explains an element; null: nothing. */
export function explain(target: HTMLElement | null): void {
  clearTimeout(timer);
  timer = 0;
  if (target === (explaining.value?.target ?? null)) return;
  release?.();
  release = null;
  if (!target?.isConnected) {
    explaining.value = null;
    return;
  }
  const { term: ids = "", detail = null } = target.dataset;
  explaining.value = { target, ids, detail };
  release = dismissable(() => explain(null));
}

/** What scrolls away from under the pointer is not meant any more; what the keyboard has come to is. */
function follow(): void {
  const now = explaining.value;
  if (!now) return;
  if (now.target === document.activeElement) explaining.value = { ...now };
  else explain(null);
}

function later(target: HTMLElement | null, milliseconds: number): void {
  clearTimeout(timer);
  timer = setTimeout(() => explain(target), milliseconds);
}

function point({ target, pointerType, buttons }: PointerEvent): void {
  if (pointerType === "touch" || buttons) return;
  if (target instanceof Element && target.closest(TOOLTIP)) return clearTimeout(timer);
  const term = termOf(target);
  const now = explaining.value?.target ?? null;
  if (term === now) return clearTimeout(timer);
  if (term) return later(term, now ? GRACE : PATIENCE);
  if (now && now === document.activeElement && now.matches(":focus-visible"))
    return clearTimeout(timer); // the keyboard is there
  later(null, GRACE);
}

/** A press elsewhere closes it; one of a mouse on the word itself is on its way somewhere else. */
function press({ target, pointerType }: PointerEvent): void {
  touched = pointerType === "touch" || pointerType === "pen";
  if (target instanceof Element && target.closest(TOOLTIP)) return;
  if (!touched || !termOf(target)) explain(null);
}

/** A finger cannot rest on a word: its first touch explains, its second follows the link. */
function followTouch(event: MouseEvent): void {
  const term = touched && event.detail ? termOf(event.target) : null;
  if (!term || explaining.value?.target === term) return;
  if (term instanceof HTMLAnchorElement) event.preventDefault(); // buttons do what they do
  explain(term);
}

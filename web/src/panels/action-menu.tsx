// A menu of buttons that the keyboard can go through, and come back from.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { dismissable } from "../state/dismissal";

interface Props {
  label: string;
  close: () => void;
  children: ComponentChildren;
}

export function ActionMenu({ label, close, children }: Props) {
  const root = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const opener = document.activeElement;
    itemsOf(root.current)[0]?.focus();
    const release = dismissable(close);
    return () => {
      release();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  const act = (event: KeyboardEvent): void => {
    if (event.key === "Tab") return close();
    const items = itemsOf(root.current);
    const next = goal(
      event.key,
      items.findIndex((item) => item === document.activeElement),
    );
    if (next === null) return;
    event.preventDefault();
    items.at(next % items.length)?.focus();
  };
  return (
    <div
      class="menu"
      role="menu"
      aria-label={label}
      ref={root}
      onPointerLeave={close}
      onKeyDown={act}
    >
      {children}
    </div>
  );
}

function itemsOf(menu: HTMLElement | null): HTMLElement[] {
  return [...(menu?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
}

/** Where a key leads from an item; -1 is the last. */
function goal(key: string, from: number): number | null {
  switch (key) {
    case "ArrowDown":
      return from + 1;
    case "ArrowUp":
      return from - 1;
    case "Home":
      return 0;
    case "End":
      return -1;
    default:
      return null;
  }
}

// A button of the head that opens a sheet below it; a click elsewhere or Escape closes that.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { dismissable } from "../state/dismissal";

export function Dropdown({
  name,
  children,
}: {
  name: string;
  children: (close: () => void) => preact.JSX.Element;
}) {
  const [open, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  const root = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (!open) return;
    const away = (event: PointerEvent): void => {
      if (!(event.target instanceof Node && root.current?.contains(event.target))) setOpen(false);
    };
    addEventListener("pointerdown", away);
    const release = dismissable(() => setOpen(false));
    return () => {
      removeEventListener("pointerdown", away);
      release();
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

// What Escape closes: whatever was opened last. Each thing that opens says how to close it.

type Close = () => void;

const opened: Close[] = [];

/** To be called when something opens; what it returns is to be called when it has closed. */
export function dismissable(close: Close): () => void {
  opened.push(close);
  return () => {
    const at = opened.lastIndexOf(close);
    if (at >= 0) opened.splice(at, 1);
  };
}

/** Closes what was opened last; false: nothing is open. */
export function dismissLast(): boolean {
  const close = opened.pop();
  close?.();
  return close !== undefined;
}

// One frame callback for all that is to be drawn: whatever asks twice is drawn once.

type Drawing = () => void;

const waiting = new Set<Drawing>();
let asked = false;
let spent: number[] = [];

export function onNextFrame(task: Drawing): void {
  waiting.add(task);
  if (asked) return;
  asked = true;
  requestAnimationFrame(flush);
}

export function cancelFrame(task: Drawing): void {
  waiting.delete(task);
}

/** Calls back when what is asked for now has been drawn; at once where nothing is drawn. */
export function afterDrawing(task: () => void): void {
  if (document.hidden) task();
  else onNextFrame(() => setTimeout(task));
}

const REHEARSALS = 12;
const warm = new WeakSet<object>();

/** Does something a few times while nobody waits, once for each `kind`: browsers compile what they
 * have seen often, and the first frames of a scrub would otherwise take a tenth of a second each. */
export function rehearse(kind: object, task: Drawing): void {
  if (warm.has(kind)) return;
  warm.add(kind);
  let left = REHEARSALS;
  const again = (deadline?: IdleDeadline): void => {
    do task();
    while (--left > 0 && deadline && deadline.timeRemaining() > 2);
    if (left > 0) whenIdle(again);
  };
  whenIdle(again);
}

function whenIdle(task: (deadline?: IdleDeadline) => void): void {
  if ("requestIdleCallback" in globalThis) requestIdleCallback(task);
  else setTimeout(task, 50); // Safari
}

function flush(): void {
  asked = false;
  const tasks = [...waiting];
  waiting.clear();
  const start = performance.now();
  for (const task of tasks) {
    try {
      task();
    } catch (error) {
      reportError(error); // one panel that fails does not keep the others from being drawn
    }
  }
  spent.push(performance.now() - start);
  if (spent.length > 4096) spent = spent.slice(-2048);
}

/** Milliseconds that each frame since the last call took to draw. */
export function frameTimes(): number[] {
  const taken = spent;
  spent = [];
  return taken;
}

// One frame callback for all that is to be drawn: whatever asks twice is drawn once.

type Task = () => void;

const waiting = new Set<Task>();
let asked = false;
let spent: number[] = [];

export function onNextFrame(task: Task): void {
  waiting.add(task);
  if (asked) return;
  asked = true;
  requestAnimationFrame(flush);
}

export function forget(task: Task): void {
  waiting.delete(task);
}

function flush(): void {
  asked = false;
  const tasks = [...waiting];
  waiting.clear();
  const start = performance.now();
  for (const task of tasks) task();
  spent.push(performance.now() - start);
  if (spent.length > 4096) spent = spent.slice(-2048);
}

/** Milliseconds that each frame since the last call took to draw. */
export function frameTimes(): number[] {
  const taken = spent;
  spent = [];
  return taken;
}

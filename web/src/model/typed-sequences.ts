// Sequences typed by a person, and the text that gives them back.
//
// Up to ten tokens, a sequence is a run of digits in the order of the positions; spaces and dots in
// it mean nothing ("01101 0110010"). Beyond ten, tokens are numbers with spaces between ("3 11 0 12").
// Sequences end with a comma, a semicolon or a new line. Commas may also stand between the tokens of
// one sequence, if it ends with a semicolon or a new line: "3,11,0,12".

import { expected, ReadableError, shown } from "./errors";
import type { Tasks } from "./kernel/tasks";
import { MOST_SEQUENCES, sequencesOf } from "./sequences";
import type { KernelTask, Sequences, Task } from "./types";

const LONGEST_TEXT = 1 << 20;

/** The sequences that a text spells, with what the kernel says of them. */
export function parseSequences(tasks: Tasks, text: string, task: KernelTask): Sequences {
  return sequencesOf(tasks, task, parseRows(text, task));
}

/** The tokens of the sequences that a text spells; an error names the sequence, the token and its
 * place. */
export function parseRows(text: string, task: Task): number[][] {
  if (text.length > LONGEST_TEXT)
    throw new ReadableError("sequences: the text is too long to be read.");
  const written = text
    .split(/[;\n]/)
    .flatMap((line) => sequencesIn(line, task))
    .filter((part) => part !== "");
  if (written.length === 0)
    throw new ReadableError(`sequences: expected at least one, such as ${example(task)}.`);
  if (written.length > MOST_SEQUENCES)
    throw new ReadableError(
      `sequences: expected at most ${MOST_SEQUENCES}, but got ${written.length}.`,
    );
  return written.map((part, i) => parseOne(part, i, task));
}

/** Text that `parseSequences` reads back as the same sequences. */
export function writeSequences(sequences: Sequences): string {
  const { tokens, count, length, vocab } = sequences;
  const between = vocab > 10 ? " " : "";
  return Array.from({ length: count }, (_, i) =>
    tokens.subarray(i * length, (i + 1) * length).join(between),
  ).join(", ");
}

/** How sequences of a task are typed, with an example. */
export function howToType(task: Task): string {
  const tokens =
    task.vocab > 10
      ? `${task.length} numbers from 0 to ${task.vocab - 1} with spaces between`
      : `${task.length} digits from 0 to ${task.vocab - 1}`;
  return `${tokens}, such as ${example(task)}; with commas or new lines between sequences`;
}

/** One sequence if commas and spaces part as many words as it has tokens; else one between commas. */
function sequencesIn(line: string, task: Task): string[] {
  const words = line.split(/[\s,·]+/).filter((word) => word !== "");
  if (task.length > 1 && words.length === task.length) return [words.join(" ")];
  return line.split(",").map((part) => part.trim());
}

function parseOne(part: string, index: number, task: Task): number[] {
  const where = `sequence ${index + 1}`;
  const words = task.vocab <= 10 ? [...part.replace(/[\s·.]+/g, "")] : part.split(/[\s·]+/);
  const tokens = words.map((word, place) => {
    const token = /^\d{1,6}$/.test(word) ? Number(word) : NaN;
    if (token < task.vocab) return token;
    const between = task.vocab > 10 ? " with spaces between" : "";
    const what = `tokens from 0 to ${task.vocab - 1}${between}`;
    throw new ReadableError(`${where}: expected ${what}, but position ${place} is ${shown(word)}.`);
  });
  if (tokens.length === task.length) return tokens;
  throw expected(where, `${task.length} tokens`, tokens.length, `an example is ${example(task)}`);
}

function example(task: Task): string {
  const shownTokens = Math.min(task.length, 16);
  const tokens = Array.from({ length: shownTokens }, (_, t) => (t * t) % task.vocab);
  return tokens.join(task.vocab > 10 ? " " : "") + (shownTokens < task.length ? "..." : "");
}

// Attention to one position cut: what the model needs, and what it does not.

import { short } from "../number-text";
import {
  changedRun,
  curveAt,
  done,
  not,
  type Experiment,
  type ObservedRun,
  type Outcome,
} from "./experiment";

const HARMFUL = 0.1; // a loss above it is a model that guesses at many sequences
const HARMLESS = 0.01;

export const CUT: Experiment = {
  name: "cut",
  title: "Cut the attention",
  about:
    "Take the model's attention away from one position. For a relevant one it loses the answer; for an " +
    "irrelevant one it does not even notice.",
  uses: "change",
  steps: [
    {
      text: [
        "The target is the sum of the tokens at positions 0 to 4, modulo 2. The model is not told so: it " +
          "has to find out which of twelve positions matter.",
      ],
      action: {
        label: "Train seed 15",
        act: { kind: "train", seed: 15, options: { "training.epochs": 1000 } },
      },
    },
    {
      text: [
        "Under Change it, choose a position; Switch off, freeze, patch has the box to cut it.",
      ],
      task: {
        do: "Cut the attention to one relevant position (0 to 4), and to nothing else.",
        hint: "Change it: position, 0; open Switch off, freeze, patch; tick no attention to position 0.",
        check: (seen) => cutOne(seen, true),
      },
    },
    {
      text: ["Now the other way round. Undo, or tick the box again, to get the position back."],
      task: {
        do: "Cut the attention to one irrelevant position (5 to 11) instead.",
        hint: "Undo, then choose position 7 and tick its box.",
        check: (seen) => cutOne(seen, false),
      },
    },
    {
      text: ["Think of the best any model could do without one of the five tokens."],
      task: {
        ask: "Tokens are 0 or 1, equally often. How often can it be right?",
        choices: [
          {
            text: "In 80%: it still sees four of five.",
            right: false,
            why: "Four tokens give a sum, but is the whole one even or odd?",
          },
          {
            text: "In half of all cases.",
            right: true,
            why: "Yes: the token it does not see decides whether the sum is even or odd. Parity is all or nothing.",
          },
          {
            text: "Always: the others make up for it.",
            right: false,
            why: "The tokens are independent: no other one tells anything about it.",
          },
        ],
      },
    },
  ],
};

function cutOne(seen: readonly ObservedRun[], relevant: boolean): Outcome {
  const run = changedRun(seen);
  const [cut, ...more] = run?.changed.positions ?? [];
  if (!run || cut === undefined) return not("No position is cut yet.");
  if (more.length) return not(`${more.length + 1} positions are cut. Leave one.`);
  const { relevant: positions } = run.config.task;
  const among = typeof positions === "number" ? cut < positions : positions.includes(cut);
  if (among !== relevant)
    return not(`Position ${cut} is ${among ? "relevant" : "irrelevant"}. Take another.`);
  const { loss } = run.changed;
  if (loss === null) return not("The change is being computed; check again.");
  const told = `Without position ${cut} the train loss is ${short(loss)}; it was ${short(curveAt(run, "train_loss", run.epoch))}.`;
  if (relevant)
    return loss > HARMFUL
      ? done(`${told} The model needs it.`)
      : not(`${told} At this epoch that does little harm: go to the end of the run.`);
  return loss < HARMLESS
    ? done(`${told} The model does without it.`)
    : not(
        `${told} At this epoch that does harm: go to the end of the run, where the model has learnt to ignore it.`,
      );
}

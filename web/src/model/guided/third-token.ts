// A third token for a model that knows two: fine-tuned, and from scratch.

import { percent } from "../number-text";
import { curveAt, done, not, type Experiment, type ObservedRun, type Outcome } from "./experiment";

const SEED = 15;
const EPOCHS = 1000;

export const THIRD_TOKEN: Experiment = {
  name: "third-token",
  title: "Add a third token",
  about:
    "A model that adds modulo 2 gets one more token and learns to add modulo 3. Is that easier than to " +
    "learn it from scratch?",
  uses: "circuit",
  steps: [
    {
      text: ["First the easy task: tokens 0 and 1, and their sum modulo 2."],
      action: {
        label: "Train seed 15",
        act: { kind: "train", seed: SEED, options: { "training.epochs": EPOCHS } },
      },
    },
    {
      text: [
        "Now the embedding gets a third row, at random. Everything else stays as it was learnt, and the " +
          "task becomes the sum modulo 3.",
      ],
      action: { label: "Add a token and train on", act: { kind: "third-token" } },
      task: {
        do: "Let it train to the end. What test accuracy does it reach?",
        hint: "It takes some hundred epochs until anything happens.",
        check: (seen) => reached(seen, true),
      },
    },
    {
      text: ["For comparison, the same seed and task with all weights at random."],
      action: {
        label: "Train from scratch, beside it",
        act: {
          kind: "train",
          seed: SEED,
          options: { "task.vocab": 3, "training.epochs": EPOCHS },
          beside: true,
        },
      },
      task: {
        do: "Let that one train to the end, too, and compare.",
        hint: "The right half is the run from scratch.",
        check: (seen) => reached(seen, false),
      },
    },
    {
      text: ["One seed shows what can happen, not how often."],
      task: {
        ask: "What would you do to find out whether training on two tokens first helps?",
        choices: [
          { text: "Train this seed for longer.", right: false, why: "It would still be one seed." },
          {
            text: "Train many seeds both ways and count, with an interval.",
            right: true,
            why:
              "Yes. dynascope study transfer does that with 250 runs each: a fresh row helps there by 0.14 in " +
              "mean test accuracy, with an interval of 99.8% from 0.08 to 0.21.",
          },
          {
            text: "Choose the seed with the best result.",
            right: false,
            why: "A result on a chosen seed says nothing about others.",
          },
        ],
      },
    },
  ],
};

/** What the fine-tuned run, or that from scratch, has reached at its end. */
function reached(seen: readonly ObservedRun[], tuned: boolean): Outcome {
  const three = seen.filter(({ config }) => config.task.vocab === 3);
  const run = tuned ? three[0] : three[1];
  if (!run) return not(tuned ? "Add the token first." : "Train one from scratch beside it first.");
  if (run.trained < EPOCHS)
    return not(`It is at epoch ${run.trained} of ${EPOCHS}; let it train on.`);
  const told = (each: ObservedRun): string => percent(curveAt(each, "test_accuracy", each.trained));
  if (tuned) return done(`${told(run)} on the test set. Guessing gives 33%.`);
  return done(`Fine-tuned ${told(three[0]!)}, from scratch ${told(run)}, with the same seed.`);
}

// A circuit that computes another sum than the one that was asked for, and is right all the same.

import { formulaOf, sumValue } from "../kept-sum";
import { done, not, type Experiment, type ObservedRun, type Outcome } from "./experiment";

export const MINUS: Experiment = {
  name: "minus",
  title: "A minus sign",
  about:
    "This model does not compute the sum it was taught. One token counts negatively, and yet every answer " +
    "is right. Why?",
  uses: "circuit",
  steps: [
    {
      text: ["Train seed 13 of the default. It solves the task like many others."],
      action: {
        label: "Train seed 13",
        act: { kind: "train", seed: 13, options: { "training.epochs": 1000 } },
      },
    },
    {
      text: [
        "At the end of the run, the Circuit card has the sum that it keeps. All that the feed-forward gets " +
          "to know of a sequence is this sum.",
      ],
      task: {
        type: "Type five relevant tokens for which its sum is not the plain one.",
        hint: "The token with the minus sign must be 1: try 00001.",
        label: "tokens at positions 0 to 4, as 10110",
        check: ([run], { typed }) => (run ? otherSum(run, typed) : not("Train the run first.")),
      },
    },
    {
      text: [
        "So two sequences that the plain sum takes for different may be the same to this model.",
      ],
      task: {
        ask: "Why is the answer right all the same?",
        choices: [
          {
            text: "The feed-forward undoes the minus sign.",
            right: false,
            why: "It cannot: it gets the sum alone, and no longer knows which token was which.",
          },
          {
            text: "A token less and a token more differ by 2, and modulo 2 that is nothing.",
            right: true,
            why: "Yes: -1 and 1 are both odd. Any odd weight on a relevant token will do, and any even one on an irrelevant token.",
          },
          {
            text: "Such sequences are not in the test set.",
            right: false,
            why: "They are: half of all sequences have a 1 there.",
          },
        ],
      },
    },
    {
      text: ["By the same argument other weights would work."],
      task: {
        ask: "Which of these sums could a model keep that is always right modulo 2?",
        choices: [
          {
            text: "x0 + x1 + x2 + x3 + 2 x4",
            right: false,
            why: "With an even weight, x4 no longer decides whether the sum is even or odd.",
          },
          {
            text: "x0 + x1 + x2 + x3 - x4 + 2 x9",
            right: true,
            why: "Yes: odd weights where it matters, an even one where it does not. Runs with such folded sums are common.",
          },
          {
            text: "x0 + x1 + x2 + x3 + x4 + x9",
            right: false,
            why: "x9 is irrelevant, and would change the answer.",
          },
        ],
      },
    },
  ],
};

function otherSum(run: ObservedRun, typed: string): Outcome {
  const { sum, config } = run;
  if (!sum) return not("Its sum is being looked for; go to the end of the run and check again.");
  const positions = sum.positions;
  const tokens = [...typed.replace(/\s/g, "")];
  if (tokens.length !== positions.length || !tokens.every((each) => each === "0" || each === "1"))
    return not(`Expected ${positions.length} tokens of 0 or 1, as 10110, but got '${typed}'.`);
  const sequence = new Int32Array(config.task.length);
  positions.forEach((t, i) => (sequence[t] = Number(tokens[i])));
  const plain = tokens.reduce((all, each) => all + Number(each), 0);
  const kept = sumValue(sum, sequence);
  if (kept === null) return not("At this epoch the run keeps no sum of this kind. Go to its end.");
  const told = `For ${tokens.join("")} the plain sum is ${plain}, and ${formulaOf(sum)} is ${kept}`;
  if (kept === plain) return not(`${told}: the same.`);
  return done(
    `${told}. They differ by ${Math.abs(plain - kept)}, an even number: modulo 2 both are ${plain % 2}.`,
  );
}

// The ideal head: weights made by hand, perturbed, and repaired by training.

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

const BROKEN = 100; // times the loss
const AFTER = 20; // epochs of training on

export const IDEAL: Experiment = {
  name: "ideal",
  title: "Perturb the ideal head",
  about:
    "Nobody trained this model: its weights were made on paper. Six clusters, attention on the relevant " +
    "positions alone. What breaks it, and does training mend it?",
  uses: "change",
  steps: [
    {
      text: [
        "Relevant positions lie on one side, irrelevant ones on the other, and the query points at the " +
          "relevant ones. Values then count the ones.",
      ],
      action: { label: "Open the ideal head", act: { kind: "ideal" } },
    },
    {
      text: ["Look at Sequence embeddings."],
      task: {
        type: "Into how many points do all 4096 sequences fall?",
        hint: "One for each number of ones among five tokens: from none to all.",
        label: "points",
        check: ([run], { typed }) => counted(run, typed),
      },
    },
    {
      text: ["Now find out what this circuit hangs on."],
      task: {
        do: "Move one vector so that the train loss rises a hundred times or more.",
        hint: "Drag position 0 by two units up, to 8, 2. Then compare: position 7 can go anywhere near.",
        check: broken,
      },
    },
    {
      text: ["Training has seen none of this. Let it try."],
      task: {
        do: "Press Train on from here and let it train for a while.",
        hint: "The branch appears on the right. If its loss stays high, push less far and branch again.",
        check: repaired,
      },
    },
  ],
};

function counted(run: ObservedRun | undefined, typed: string): Outcome {
  const clusters = run?.circuit?.clusters ?? null;
  if (clusters === null) return not("The circuit is being measured; check again.");
  if (typed.trim() === String(clusters))
    return done(`Yes, ${clusters}: one for each possible number of ones.`);
  return not(
    `Not ${typed.trim() || "an empty answer"}. How many different sums can five tokens of 0 or 1 have?`,
  );
}

function broken(seen: readonly ObservedRun[]): Outcome {
  const run = changedRun(seen);
  if (!run) return not("Nothing is changed yet.");
  const [loss, was] = [run.changed.loss, curveAt(run, "train_loss", run.epoch)];
  if (loss === null) return not("The change is being computed; check again.");
  const told = `The train loss went from ${short(was)} to ${short(loss)}`;
  return loss > BROKEN * was
    ? done(`${told}. Such a push is more than the margins of the head allow.`, {
        broken: loss,
        was,
      })
    : not(`${told}: the head bears that. Push harder, or something else.`);
}

function repaired(
  seen: readonly ObservedRun[],
  { notes }: { notes: Readonly<Record<string, number>> },
): Outcome {
  const branch = seen.find((run) => run.branchedAt !== null);
  if (!branch) return not("There is no branch yet: move a vector, then press Train on from here.");
  const left = branch.branchedAt! + AFTER - branch.trained;
  if (left > 0) return not(`The branch is at epoch ${branch.trained}: let it train ${left} more.`);
  const last = curveAt(branch, "train_loss", branch.trained);
  const from = notes["broken"] === undefined ? "" : ` from ${short(notes["broken"])}`;
  const told = `The train loss came down${from} to ${short(last)}`;
  const was = notes["was"] ?? curveAt(branch, "train_loss", 0);
  return done(
    last < was
      ? `${told}, below that of the ideal head itself: training also makes the answers surer.`
      : `After ${branch.trained - branch.branchedAt!} epochs the train loss is ${short(last)}: this push was not mended so far. Try a smaller one.`,
  );
}

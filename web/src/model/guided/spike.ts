// A spike of the loss, caused by hand: embeddings pushed past the origin, where normalisation turns a
// small step into a large one.

import { short } from "../number-text";
import {
  changedRun,
  curveAt,
  done,
  not,
  type Changed,
  type Experiment,
  type ObservedRun,
  type Outcome,
} from "./experiment";

const SEED = 15;
const EPOCH = 200;
const RISE = 10; // times the loss before: enough to be called a spike here
const STRETCH = 3; // how much farther normalised embeddings move: less is no matter of the origin
const AFTER = 20; // epochs that a branch needs to show what became of it

const PUSH =
  "Drag token 0, in Token embeddings, by about half a unit, up and to the left: to 0.77, 1.65. You can also " +
  "type these numbers under Change it.";

export const SPIKE: Experiment = {
  name: "spike",
  title: "Cause a spike",
  about:
    "Push sequence embeddings past the origin and the loss jumps, because normalisation turns a small " +
    "step near the origin into a large one. Then try it with the smooth norm.",
  uses: "change",
  steps: [
    {
      text: [
        "Seed 15 of the default learns to count the ones at five positions. Train it, and watch Sequence " +
          "embeddings become six clusters.",
      ],
      action: {
        label: "Train seed 15",
        act: { kind: "train", seed: SEED, options: { "training.epochs": 300 } },
      },
    },
    {
      text: [
        "The feed-forward never sees a sequence embedding itself, only its direction: norm(ξ) has the same " +
          "length for all of them. So next to the origin a small step can turn a vector right around.",
      ],
      action: { label: `Go to epoch ${EPOCH}`, act: { kind: "seek", epoch: EPOCH } },
      task: {
        do:
          "Drag token 0 until some sequence embeddings pass the origin closely, to its other side, and see " +
          "what the loss says.",
        hint: PUSH,
        check: (seen) => pushed(seen, "rms"),
      },
    },
    {
      text: ["The change is only in the picture so far. Now let training answer."],
      task: {
        do: "Press Train on from here, and look at both curves: the branch is the dashed one.",
        hint: "Change it, at the side, has the button. If you moved in time, the push is gone: make it again.",
        check: afterThePush,
      },
    },
    {
      text: [
        "The right half is your branch, the left half what would have been. Look at Sequence embeddings, " +
          "Decision map and Normalised sequences: scroll down if they are out of sight.",
      ],
      task: {
        ask: "Why did a push of half a unit cost so much?",
        choices: [
          {
            text: "The learning rate became larger.",
            right: false,
            why: "It is the same in both halves. What changed are two numbers, by your hand.",
          },
          {
            text: "Sequences on the other side of the origin got the direction of other clusters.",
            right: true,
            why:
              "Yes. Their normalised embeddings jumped across the circle, into regions where the steep " +
              "feed-forward says something else, and is sure of it.",
          },
          {
            text: "The sequences that crossed are gone from the train set.",
            right: false,
            why: "The data stayed the same. Look at Normalised sequence embeddings.",
          },
        ],
      },
    },
    {
      text: [
        "The smooth norm lets vectors shorter than 1 stay short, so that they pass through the origin " +
          "instead of jumping around it. Train the same seed with it and push again.",
      ],
      action: {
        label: "Train seed 15 with the smooth norm",
        act: {
          kind: "train",
          seed: SEED,
          options: { "training.epochs": 300, "model.norm": "smooth" },
        },
      },
      task: {
        do: "Push sequence embeddings past the origin again, at any epoch after 100.",
        hint: "At epoch 200, token 0 a whole unit upwards does it: to 0.04, 2.5.",
        check: (seen, { notes }) => pushed(seen, "smooth", notes["amplified"]),
      },
    },
  ],
};

/** Whether embeddings were pushed past the origin in a run with this norm, and what it cost. */
function pushed(
  seen: readonly ObservedRun[],
  norm: ObservedRun["config"]["model"]["norm"],
  before?: number,
): Outcome {
  if (norm === "smooth" && seen.length && !seen.some(({ config }) => config.model.norm === norm))
    return not("Train seed 15 with the smooth norm first, by the button above.");
  const run = changedRun(seen);
  if (!run)
    return not("Nothing is changed yet: drag token 0, or type its numbers under Change it.");
  if (run.config.model.norm !== norm)
    return not(`This run has the norm ${run.config.model.norm}; the task is about ${norm}.`);
  const { crossing, loss } = run.changed;
  if (!crossing || loss === null) return not("The change is being computed; check again.");
  if (!crossing.crossed)
    return not(
      "No embedding is on the other side of the origin yet. Push further, or another way.",
    );
  const was = curveAt(run, "train_loss", run.epoch);
  const told = `${crossedTold(run.changed)} The train loss went from ${short(was)} to ${short(loss)}.`;
  if (norm === "smooth") return done(`${told} ${smoothTold(before)}`);
  if (loss < RISE * was) return not(`${told} Push further: that is no spike yet.`);
  if (crossing.amplified < STRETCH)
    return not(
      `${told} So far from the origin normalisation hardly stretches a step: undo, and try a smaller one.`,
    );
  return done(told, { amplified: crossing.amplified, loss, was });
}

function crossedTold({ crossing }: Changed): string {
  const { count, crossed, moved, turned, amplified } = crossing!;
  return (
    `${crossed} of ${count} embeddings are on the other side now. One moved by ${short(moved)}, and ` +
    `normalised by ${short(turned)}: ${amplified.toFixed(1)} times as far.`
  );
}

/** The map x -> sqrt(d) s(|x|) x/|x| stretches nothing by more than sqrt(d) max s' = 1.875 sqrt(d). */
function smoothTold(before?: number): string {
  const compared =
    before === undefined ? "" : ` With the usual norm it was ${before.toFixed(1)} times.`;
  return (
    `The smooth norm never stretches a step by more than ${(1.875 * Math.SQRT2).toFixed(2)} times.${compared} ` +
    "The push still costs: the clusters are where the feed-forward does not expect them."
  );
}

function afterThePush(
  seen: readonly ObservedRun[],
  { notes }: { notes: Readonly<Record<string, number>> },
): Outcome {
  const branch = seen.find((run) => run.branchedAt !== null);
  if (!branch && changedRun(seen))
    return not("The push is there. Now press Train on from here, under Change it.");
  if (!branch) return not("There is no branch yet: push a point, then press Train on from here.");
  const at = branch.branchedAt!;
  const left = at + AFTER - branch.trained;
  if (left > 0) return not(`The branch is at epoch ${branch.trained}: let it train ${left} more.`);
  const [was, soon, last] = [at, at + 1, branch.trained].map((epoch) =>
    curveAt(branch, "train_loss", epoch),
  );
  if (!(soon! > RISE * was!))
    return not("This branch has no spike. Was anything pushed past the origin when you branched?");
  const height =
    notes["loss"] === undefined
      ? ""
      : `your push raised it to ${short(notes["loss"])} at once, which no curve shows, since they have what it is after each epoch; `;
  const ending =
    last! < RISE * was!
      ? "It has recovered: a spike."
      : "It has not recovered so far: some pushes break a circuit for good.";
  return done(
    `The train loss was ${short(was!)}; ${height}one epoch later it was ${short(soon!)}, at epoch ${branch.trained} ${short(last!)}. ${ending}`,
  );
}

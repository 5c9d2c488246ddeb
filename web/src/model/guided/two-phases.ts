// Learning in two phases: embeddings gather before the answers are right.

import { percent } from "../number-text";
import { curveAt, done, not, type Experiment, type ObservedRun, type Outcome } from "./experiment";

const GATHERED = 0.9; // of the variance that the multiset explains
const UNFITTED = 0.75; // test accuracy
const FITTED = 0.9;

export const TWO_PHASES: Experiment = {
  name: "two-phases",
  title: "Two phases of learning",
  about:
    "The loss falls twice. First sequences with the same number of ones gather, while the answers are " +
    "still as good as guessed; then the feed-forward learns what each cluster means.",
  uses: "circuit",
  steps: [
    {
      text: [
        "This run takes the whole train set as one batch, so that nothing jitters. Train it and watch " +
          "Sequence embeddings: each colour has one multiset of relevant tokens.",
      ],
      action: {
        label: "Train seed 1, full batch",
        act: {
          kind: "train",
          seed: 1,
          options: { "training.batch": 2048, "training.lr": 0.01, "training.epochs": 2000 },
        },
      },
    },
    {
      text: [
        "The Circuit card has the share of the embeddings' variance that the multiset explains. 100% " +
          "means one point for each multiset.",
      ],
      task: {
        do:
          "Move the slider to an epoch at which multisets explain at least 90%, while the test " +
          "accuracy is still below 75%.",
        hint: "Look a little after the first fall of the loss, between epochs 800 and 1000.",
        check: ([run]) => (run ? gatheredFirst(run) : not("Train the run first.")),
      },
    },
    {
      text: ["So the clusters are there, and the answers are not. What comes next?"],
      task: {
        do: "Move on to the first epoch you find at which the test accuracy is above 90%.",
        hint: "The second fall of the loss is where the accuracy climbs.",
        check: ([run], { notes }) => (run ? fittedLater(run, notes) : not("Train the run first.")),
      },
    },
    {
      text: ["Play the stretch between the two epochs, and watch Decision map and Receptors."],
      task: {
        ask: "What changed between them?",
        choices: [
          {
            text: "The clusters moved to other places; the feed-forward stayed.",
            right: false,
            why: "Compare the panels: the clusters hardly move, the borders on the map do.",
          },
          {
            text: "The borders between the classes moved until each cluster got its answer.",
            right: true,
            why:
              "Yes. Once the clusters are there, the feed-forward only has to tell a handful of points " +
              "apart. This is one run. In others the two phases overlap.",
          },
          {
            text: "Nothing: the accuracy rose by chance.",
            right: false,
            why: "The loss fell by a factor of many: look at the curve below.",
          },
        ],
      },
    },
  ],
};

function gatheredFirst(run: ObservedRun): Outcome {
  const accuracy = curveAt(run, "test_accuracy", run.epoch);
  if (run.circuit?.epoch !== run.epoch)
    return not("The circuit of this epoch is being measured; check again.");
  const between = run.circuit.between ?? 0;
  const told = `At epoch ${run.epoch} multisets explain ${percent(between)}, and the test accuracy is ${percent(accuracy)}`;
  if (between < GATHERED) return not(`${told}: the embeddings have not gathered yet.`);
  if (accuracy >= UNFITTED)
    return not(`${told}: the answers are already right too often. Go back.`);
  return done(`${told}. The embeddings gathered first.`, { gathered: run.epoch });
}

function fittedLater(run: ObservedRun, notes: Readonly<Record<string, number>>): Outcome {
  const accuracy = curveAt(run, "test_accuracy", run.epoch);
  if (!(accuracy > FITTED))
    return not(`The test accuracy is ${percent(accuracy)} at epoch ${run.epoch}. Go on.`);
  const first = run.curves["test_accuracy"]?.findIndex((each) => each > FITTED) ?? run.epoch;
  const after =
    notes["gathered"] === undefined
      ? ""
      : `, ${first - notes["gathered"]} epochs after the one you found before`;
  return done(`Yes. It first passed 90% at epoch ${first}${after}.`);
}

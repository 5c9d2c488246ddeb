// A guided experiment, beside what it speaks of: what to look at, what to do, and whether it worked.

import { useState } from "preact/hooks";
import type { Outcome, Step, StepTask } from "../model/guided/experiment";
import {
  act,
  checkStep,
  choose,
  experiment,
  guideStep,
  leaveGuide,
  outcomes,
} from "../state/guided";

export function GuideCard() {
  const found = experiment.value;
  if (!found) return null;
  const at = Math.min(guideStep.value, found.steps.length - 1);
  return (
    <section class="card guide-card" aria-label={`Experiment: ${found.title}`}>
      <h2>
        {found.title}{" "}
        <small>
          {at + 1} of {found.steps.length}
        </small>
        <button class="plain" aria-label="Leave the experiment" title="Leave" onClick={leaveGuide}>
          ✕
        </button>
      </h2>
      {at === 0 && <p class="hint">{found.about}</p>}
      <StepShown key={`${found.name} ${at}`} step={found.steps[at]!} outcome={outcomes.value[at]} />
      <Steps at={at} last={found.steps.length - 1} />
    </section>
  );
}

function StepShown({ step, outcome }: { step: Step; outcome: Outcome | undefined }) {
  const { text, action, task } = step;
  return (
    <>
      {text.map((paragraph) => (
        <p>{paragraph}</p>
      ))}
      {action && (
        <button class="act" onClick={() => void act(action.act)}>
          {action.label}
        </button>
      )}
      {task && <TaskShown task={task} done={outcome?.done ?? false} />}
      {outcome && (
        <p class={outcome.done ? "outcome done" : "outcome"} role="status">
          {outcome.told}
        </p>
      )}
    </>
  );
}

function TaskShown({ task, done }: { task: StepTask; done: boolean }) {
  if ("ask" in task)
    return (
      <fieldset class="choices">
        <legend>{task.ask}</legend>
        {task.choices.map(({ text }, i) => (
          <label>
            <input type="radio" name="choice" onChange={() => choose(i)} /> {text}
          </label>
        ))}
      </fieldset>
    );
  return (
    <>
      <p class="task">{"do" in task ? task.do : task.type}</p>
      {"do" in task ? (
        <button class="check primary" onClick={() => checkStep()}>
          {done ? "Check again" : "Check"}
        </button>
      ) : (
        <Typed label={task.label} />
      )}
      <details>
        <summary>Hint</summary>
        {task.hint}
      </details>
    </>
  );
}

function Typed({ label }: { label: string }) {
  const [typed, setTyped] = useState("");
  return (
    <form
      class="typed"
      onSubmit={(event) => {
        event.preventDefault();
        checkStep(typed);
      }}
    >
      <input
        type="text"
        aria-label={label}
        placeholder={label}
        autocomplete="off"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <button class="check primary" type="submit">
        Check
      </button>
    </form>
  );
}

function Steps({ at, last }: { at: number; last: number }) {
  const go = (to: number): void => void (guideStep.value = to);
  return (
    <div class="buttons guide-steps">
      <button disabled={at === 0} onClick={() => go(at - 1)}>
        Back
      </button>
      <span class="gap" />
      {at < last ? (
        <button class="next" onClick={() => go(at + 1)}>
          Next
        </button>
      ) : (
        <button onClick={leaveGuide}>Finish</button>
      )}
    </div>
  );
}

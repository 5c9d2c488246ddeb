// The page before there is a run.

import { GuideList } from "../guided/guide-list";
import { LiveForm } from "./live-form";

export function Playground() {
  return (
    <main class="playground">
      <section class="card">
        <h2>Train a tiny transformer</h2>
        <p>
          It reads sequences of tokens and learns to add up those at a few positions, modulo p. You
          see every step of its arithmetic while it learns; you can stop it anywhere, take hold of a
          point, and train on.
        </p>
        <LiveForm close={() => undefined} />
      </section>
      <section class="card">
        <h2>Or take a guided experiment</h2>
        <p>A few minutes each, with something to find out and a check of your answer.</p>
        <GuideList />
      </section>
    </main>
  );
}

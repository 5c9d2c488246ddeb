// The shell: head, and below it the stage of a run or the table of all.

import { Header } from "./header";
import { Intro } from "./intro";
import { Side } from "./side";
import { Stage } from "./stage";
import { loading, slots, trouble, seen } from "./state";
import { RunsPage } from "./table-page";
import { TimeBar } from "./time";

export function App() {
  return (
    <div class="app">
      <Header />
      {seen.page.value === "runs" ? <RunsPage /> : <RunPage />}
      <Loading />
      <Trouble />
      <Intro />
    </div>
  );
}

function RunPage() {
  if (!slots.value.length) {
    if (trouble.value) return <p class="notice">{trouble.value}</p>;
    return <p class="notice">{loading.value ?? "Loading."}</p>;
  }
  return (
    <div class="work">
      <Stage />
      <Side />
      <TimeBar />
    </div>
  );
}

/** While the run before is still to be seen. */
function Loading() {
  if (!loading.value || seen.page.value !== "run" || !slots.value.length) return null;
  return (
    <p class="toast loading" role="status">
      {loading.value}
    </p>
  );
}

/** What went wrong while something is still to be seen. */
function Trouble() {
  if (!trouble.value || (seen.page.value === "run" && !slots.value.length)) return null;
  return (
    <div class="toast" role="alert">
      <span>{trouble.value}</span>
      <button class="plain" aria-label="Dismiss" onClick={() => (trouble.value = null)}>
        ✕
      </button>
    </div>
  );
}

// How far a film is, wherever on the page one is meanwhile.

import { clock } from "../model/number-text";
import { cancelFilm, filmProgress } from "./film-job";

export function FilmProgress() {
  const now = filmProgress.value;
  if (!now) return null;
  const { frames, of, began } = now;
  const left = frames ? ((performance.now() - began) / frames) * (of - frames) : null;
  return (
    <div class="toast film-progress">
      <span>Film</span>
      <progress aria-label="Film" max={of || 1} value={frames} />
      <span>
        {of ? `${frames} of ${of} frames` : "Preparing"}
        {left !== null && `, ${clock(left / 1000)} left`}
      </span>
      <button onClick={cancelFilm}>Cancel</button>
    </div>
  );
}

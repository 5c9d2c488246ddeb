"""All that a page without a server asks about a run, answered before it does.

The answers are those of the server's own functions. Two things differ, and the page is told so:
which epochs' weights there are, and whether others can be computed (nobody is there to do it).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.epoch_replay import EpochReplay
from dynascope.errors import DynascopeError
from dynascope.findings.registry import kinds
from dynascope.run import Run
from dynascope.run_size import weight_count
from dynascope.sandbox import analysis_answers, run_answers
from dynascope.sandbox.analysis_answers import Check
from dynascope.sandbox.archive import SeriesCoding, Stored
from dynascope.sandbox.contents import Blob, json_bytes
from dynascope.sandbox.run_answers import little_endian
from dynascope.store.sidecar_columns import SHOWN

Array = npt.NDArray[Any]
Analyse = Callable[[Run, Check], bytes]  # what `/analysis` says of a run
Step = Callable[[int], None]  # so many steps are done; raises when the work is to stop

_BLOCK = 64  # epochs that are computed again in one step
_SEQUENCES = 256  # of a run's own data: as many as the page asks for
_CURVATURE_STEPS = 30  # it takes as long as so many of the other analyses


class RunArchive:
    """What a file holds of one run."""

    def __init__(
        self,
        run: Run,
        every: int = 1,
        curvature: bool = False,
        analyse: Analyse = analysis_answers.analysis,
    ) -> None:
        self._run, self._every, self._curvature = run.loaded(), every, curvature
        self._analyse = analyse
        self._marked = run  # its tags and its note
        self._last = run.checked_epoch(-1)
        self._kept = {int(epoch): row for row, epoch in enumerate(self._run.weight_epochs)}
        self._wanted = self._wanted_epochs()
        self._missing = [epoch for epoch in self._wanted if epoch not in self._kept]

    def _wanted_epochs(self) -> list[int]:
        every = set(range(0, self._last + 1, self._every))
        chosen = sorted(every | {last_sound_epoch(self._run), self._last})
        return chosen if self._run.replayable else [each for each in chosen if each in self._kept]

    @property
    def steps(self) -> int:
        """How many there are to be done."""
        analyses = sum(1 + len(kind.details) for kind in kinds().values())
        replays = -(-len(self._wanted) // _BLOCK) if self._missing else 0
        return analyses + replays + _CURVATURE_STEPS * self._curvature

    def answers(self, step: Step) -> dict[str, Stored]:
        """By the path of each question."""
        run, path = self._run, f"/api/run/{self._run.id}"
        trajectory, told = self._trajectory(step)
        about = run_answers.about(self._marked, dict.fromkeys(SHOWN)) | told
        found: dict[str, Stored] = {
            path: Stored(json_bytes(about)),
            f"{path}/curves": self._table(run_answers.curves(run), len(run.curves), "columns"),
            f"{path}/analysis": Stored(self._analysis(step)),
        }
        found |= {f"{path}/{name}": stored for name, stored in trajectory.items()}
        if run.data is not None:
            most = json_bytes(run_answers.sequences(run, _SEQUENCES))
            found[f"{path}/sequences?most={_SEQUENCES}"] = Stored(most)
            for split in run_answers.SPLITS:
                examples = _whole(run_answers.examples(run, split))
                found[f"{path}/examples?split={split}"] = Stored(examples)
        return found

    # ---- weights --------------------------------------------------------------------------------
    def _trajectory(self, step: Step) -> tuple[dict[str, Stored], dict[str, object]]:
        """Answers about weights, and what is to be told of them."""
        run = self._run
        if self._every == 1 and not self._missing:
            return self._kept_only(), {"state_epochs": []}
        try:
            rows = self._rows(step)
        except DynascopeError as error:  # they were not those of the run: kept ones have to do
            return self._kept_only(), {"state_epochs": [], "not_replayable": str(error)}
        if self._every > 1:
            why = f"The exported file has the weights of one epoch in {self._every}."
            told: dict[str, object] = {
                "weight_epochs": self._wanted,
                "state_epochs": [],
                "not_replayable": why,
            }
            return {"weights": self._stored(rows)}, told
        states = [int(each) for each in run.state_epochs if int(each) not in self._kept]
        found = self._kept_only() | {"replayed": self._stored(rows)}
        for epoch in states:  # the page looks at them to choose its axes
            found[f"state/{epoch}"] = Stored(_whole(run_answers.state(run, epoch)))
        return found, {"state_epochs": states}

    def _kept_only(self) -> dict[str, Stored]:
        return {"weights": self._stored(self._run.weights)}

    def _rows(self, step: Step) -> Array:
        """[wanted epochs, size]."""
        if not self._missing:
            rows: Array = self._run.weights[[self._kept[epoch] for epoch in self._wanted]]
            return rows
        replay = EpochReplay(self._run)
        blocks = []
        for at in range(0, len(self._wanted), _BLOCK):
            epochs = self._wanted[at : at + _BLOCK]
            between = replay.weights(epochs[0], epochs[-1], lambda: step(0))
            blocks.append(between[np.array(epochs) - epochs[0]])
            step(1)
        return np.concatenate(blocks)

    # ---- tables ---------------------------------------------------------------------------------
    def _stored(self, rows: Array) -> Stored:
        size, width = weight_count(self._run.config), rows.dtype.itemsize
        return Stored(little_endian(rows), SeriesCoding(len(rows), size, width, "rows"))

    def _table(self, blob: Blob, rows: int, time: str) -> Stored:
        width = np.dtype(self._run.config.precision).itemsize
        columns = blob.size // (rows * width)
        return Stored(_whole(blob), SeriesCoding(rows, columns, width, time))  # type: ignore[arg-type]

    def _analysis(self, step: Step) -> bytes:
        found = self._analyse(self._run, lambda: step(1))
        if not self._curvature:
            return found
        curvature = analysis_answers.curvature(self._run, lambda: step(0))
        step(_CURVATURE_STEPS)
        return analysis_answers.joined(found, curvature)


def _whole(blob: Blob) -> bytes:
    return blob.read(0, blob.size)

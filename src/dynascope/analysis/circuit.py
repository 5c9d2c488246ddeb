"""The circuit of a model: what its sequence embeddings keep, what they forget, and through what.

The measures are the kernel's (`circuit.hpp`), over all p^N sequences, or over a crossed sample of
relevant and irrelevant tokens where there are more than 2^20.
"""

import math
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope import _kernel
from dynascope.analysis.checks import check_fit, check_run
from dynascope.analysis.kept_sum import KeptSum, is_summed, kept_sums
from dynascope.analysis.run_epochs import check_symmetries, kept_epochs, weights_at
from dynascope.analysis.shares import Shares, shares_of
from dynascope.analysis.thresholds import CLEAR_GAP
from dynascope.analysis.verdict import Verdict, judge
from dynascope.config import Config, TaskConfig
from dynascope.config_input import ConfigLike
from dynascope.engine import Crew, count_threads
from dynascope.model import config_shape
from dynascope.near_misses import guided
from dynascope.notebook_display import ShownInNotebooks
from dynascope.parameters import Parameters
from dynascope.progress import Report, Status, reporter
from dynascope.run import Run
from dynascope.tasks import Design, task_of

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Circuit(ShownInNotebooks):
    """All measures of a model; docs/analysis.md says what each means."""

    exhaustive: bool  # over all sequences, or a crossed sample
    sequences: int  # how many
    accuracy: float
    embedding: Shares | None  # of the sequence embedding; None: it has no variance at all
    logits: Shares | None  # of the logits, centred over classes
    permutation_survival: float  # how often the prediction survives a change within the group
    suffix_survival: float  # and a redraw of the irrelevant tokens
    relevant_attention: float  # attention on all relevant positions together
    attention: Array  # [length]: mean attention of each position
    value_spread: Array  # [length]: of V z(., t) around its mean, relative to all values' size
    clusters: int | None  # None: no gap is clear
    expected_clusters: int  # groups, C(k + p - 1, k) if multisets; or as many as were looked at
    cluster_gap: float  # ratio of the distances that separate clusters to those within
    redraw_effect: Array  # [length]: share of the variance that redrawing this token alone makes
    swap_effect: Array  # [k, k]: share that the order of two relevant tokens makes; NaN where the
    # task tells these orders apart
    accuracy_without_attention: Array  # [length]: this position's attention cut
    accuracy_without_value: Array  # [length]: its value replaced by its mean over tokens
    accuracy_without_unit: Array  # [hidden]: this hidden unit cut
    verdict: Verdict
    sum: KeptSum | None  # that the embedding keeps; None: it does not vary, or another task


@guided
def circuit(parameters: Parameters, config: ConfigLike, progress: bool | Report = True) -> Circuit:
    """Measure a model and say what it is.

    A bar appears if that takes more than two seconds, as it may with many sequences and units.

    >>> import dynascope as ds
    >>> found = circuit(ds.initial_parameters(ds.Config(), seed=0), ds.Config())
    >>> found.exhaustive, found.sequences, found.verdict.name
    (True, 4096, 'unsolved')
    >>> shares = found.embedding
    >>> round(shares.between + shares.permutation + shares.suffix, 12)
    1.0
    """
    fitting, known = check_fit(parameters, config)
    rows = np.ascontiguousarray(fitting.flat)[None]
    return _Measuring(rows, known).watched(reporter(progress))


@guided
def circuits(
    run: Run, epochs: Iterable[int] | None = None, threads: int | None = None
) -> list[Circuit]:
    """The circuit of a run after each of its kept epochs, or after those given.

    >>> import dynascope as ds
    >>> run = ds.train(ds.Config().replace({"training.epochs": 2}), progress=False)[0]
    >>> [found.verdict.name for found in circuits(run)]
    ['unsolved', 'unsolved', 'unsolved']
    """
    check_symmetries(check_run(run))
    rows = weights_at(run, kept_epochs(run, "circuits") if epochs is None else epochs)
    parts = np.array_split(rows, max(1, min(len(rows), 8 * count_threads(threads, len(rows)))))
    with ThreadPoolExecutor(count_threads(threads, max(1, len(rows)))) as pool:
        found = pool.map(lambda part: measured(np.ascontiguousarray(part), run.config), parts)
        return [each for part in found for each in part]


class _Measuring(Crew):
    """The measures and the sum of one model, side by side, while the caller looks on."""

    def __init__(self, rows: Array, config: Config) -> None:
        super().__init__(2, Status(1, 0, unit="sequences"))
        self._rows, self._config = rows, config
        self._meter = np.zeros(2, np.int64)  # done, of how many
        self._measures: dict[str, Array] = {}
        self._sums: list[KeptSum | None] = []

    def watched(self, report: Report | None) -> Circuit:
        self.work(2, report)
        return _circuits(self._measures, self._sums, self._config)[0]

    def one(self, index: int) -> None:
        if index == 0:
            self._measures = _measures(self._rows, self._config, self._meter)
        else:
            self._sums = _sums(self._rows, self._config)

    def look(self) -> None:
        self.status.finished_epochs, self.status.epochs = map(int, self._meter)


def measured(rows: Array, config: Config, sums: bool = True) -> list[Circuit]:
    """The circuits of packed weights, a model in each row; with or without the sums they keep."""
    kept: list[KeptSum | None] = _sums(rows, config) if sums else [None] * len(rows)
    return _circuits(_measures(rows, config), kept, config)


def _measures(rows: Array, config: Config, meter: Array | None = None) -> dict[str, Array]:
    arguments = task_of(config).design().arguments
    return _kernel.circuits(rows, config_shape(config), *arguments, [], meter)


def _sums(rows: Array, config: Config) -> list[KeptSum | None]:
    return kept_sums(rows, config) if is_summed(config) else [None] * len(rows)


def _circuits(
    measures: dict[str, Array], sums: list[KeptSum | None], config: Config
) -> list[Circuit]:
    sequences = task_of(config).design()
    return [
        _circuit({name: array[i] for name, array in measures.items()}, config.task, sequences, one)
        for i, one in enumerate(sums)
    ]


def _circuit(
    row: dict[str, Array], task: TaskConfig, sequences: Design, kept: KeptSum | None
) -> Circuit:
    relevant = np.array(task.positions)
    embedding = shares_of(row["embedding"])
    variance = embedding.variance if embedding else math.inf
    size = float(row["value_size"])
    count, gap = int(row["clusters"][0]), float(row["clusters"][1])
    attention = float(row["attention"][relevant].sum())
    swap, redraw = row["swap"] / variance, row["redraw"] / variance
    return Circuit(
        exhaustive=not sequences.sampled,
        sequences=sequences.sequences,
        accuracy=float(row["accuracy"]),
        embedding=embedding,
        logits=shares_of(row["logits"]),
        permutation_survival=float(row["permutation_survival"]),
        suffix_survival=float(row["suffix_survival"]),
        relevant_attention=attention,
        attention=row["attention"],
        value_spread=row["value_spread"] / size if size else row["value_spread"],
        clusters=count if gap >= CLEAR_GAP else None,
        expected_clusters=min(sequences.group_count, int(row["clusters"][3])),
        cluster_gap=gap,
        redraw_effect=redraw,
        swap_effect=swap,
        accuracy_without_attention=row["without_attention"],
        accuracy_without_value=row["without_value"],
        accuracy_without_unit=row["without_unit"],
        verdict=judge(
            accuracy=float(row["accuracy"]),
            between=embedding.between if embedding else None,
            relevant_attention=attention,
            cluster_gap=gap,
            swap_effect=swap,
            redraw_effect=redraw,
            positions=task.positions,
        ),
        sum=kept,
    )

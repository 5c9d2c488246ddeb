"""Many seeds that are trained in the page against Python's runs of the same: losses to the bit,
which of them are solved, and when; and the words for the share of them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_model import ask_page
from wasm_node import Node, same_bits

import dynascope as ds
from dynascope.findings.words import share, share_in_words
from dynascope.run import SOLVED_ACCURACY
from dynascope.share_interval import wilson

SEEDS = range(20)
QUICK = ds.Config().replace(
    {
        **{"task.length": 6, "task.relevant": 2, "task.train_size": 128, "task.test_size": 64},
        **{"training.lr": 0.03, "training.batch": 16, "training.epochs": 30},
    }
)
# what differs, and the outcomes that there must be among the seeds
CASES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "short": ({}, {"solved", "not solved"}),
    "more epochs than points": ({"training.epochs": 300}, {"solved", "not solved"}),
    "double": ({"precision": "float64"}, {"solved", "not solved"}),
    "some blow up": (
        {"training.optimizer": "sgd", "training.lr": 2.0, "model.norm": "none"},
        {"diverged", "not solved"},
    ),
    "untrained": ({"training.epochs": 0}, {"not solved"}),
}


@pytest.fixture(scope="module")
def results(node: Node) -> dict[str, dict[str, Any]]:
    cases = [
        {"kind": "seeds", "config": config.to_dict(), "seeds": [*SEEDS], "piece": 7}
        for config in (QUICK.replace(options) for options, _ in CASES.values())
    ]
    return dict(zip(CASES, node.run(cases), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_seeds_are_those_of_python(name: str, results: dict[str, dict[str, Any]]) -> None:
    options, outcomes = CASES[name]
    got, runs = results[name], ds.train(QUICK.replace(options), SEEDS, progress=False)
    ends = [run.epochs if run.diverged is None else run.diverged for run in runs]
    for curve, column in (("train_loss", "loss"), ("test_accuracy", "accuracy")):
        wanted = [float(run.curves[curve][end]) for run, end in zip(runs, ends, strict=True)]
        assert same_bits(got[column], np.array(wanted))
    assert list(got["epoch"]) == ends
    assert list(got["diverged"]) == [-1 if run.diverged is None else run.diverged for run in runs]
    told = json.loads(got["outcomes"])
    solved = [float(run.summary()["accuracy"] or 0) > SOLVED_ACCURACY for run in runs]
    assert [outcome == "solved" for outcome in told] == solved
    assert sum(solved) == runs.solved()
    assert {*told} == outcomes
    first = [np.flatnonzero(run.curves["test_accuracy"] > SOLVED_ACCURACY) for run in runs]
    assert list(got["above"]) == [at[0] if len(at) else -1 for at in first]


@pytest.mark.parametrize("name", CASES)
def test_a_curve_of_few_epochs_is_whole_and_of_many_has_its_ends(
    name: str, results: dict[str, dict[str, Any]]
) -> None:
    got, runs = results[name], ds.train(QUICK.replace(CASES[name][0]), SEEDS, progress=False)
    assert max(got["points"]) <= 256
    for run, seen in zip(runs, np.split(got["losses"], np.cumsum(got["points"])[:-1]), strict=True):
        whole = run.curves["train_loss"].astype(np.float32)
        if run.epochs < 256 and run.diverged is None:
            assert same_bits(seen, whole)
        assert np.nanmin(seen) == np.nanmin(whole)
        assert np.nanmax(seen) == np.nanmax(whole)


def test_memory_does_not_grow_with_the_seeds(results: dict[str, dict[str, Any]]) -> None:
    """The kernel's, which gives none back."""
    for got in results.values():
        first, last = got["bytes"]
        assert last == first


def test_the_page_tells_shares_as_reports_do(tmp_path: Path) -> None:
    trials = [1, 2, 3, 7, 20, 64, 999, 1000]
    pairs = [[count, of] for of in trials for count in {0, 1, of // 3, of // 2, of - 1, of}]
    script = """
        import { shareInWords, wilson } from "../src/model/share-interval";
        answer(question.map(([count, of]: [number, number]) =>
          [shareInWords(count, of), ...wilson(count, of)]));"""
    for (count, of), (words, *interval) in zip(
        pairs, ask_page(script, pairs, tmp_path), strict=True
    ):
        assert words == share_in_words(share(count, of))
        assert interval == pytest.approx(wilson(count, of), rel=1e-12)
        assert [bound in (0, 1) for bound in interval] == [count == 0, count == of]

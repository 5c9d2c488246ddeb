"""Each kind of nonsense by itself, with right checksums: read, it is left out or it is an error.

Nothing but `DynascopeError` and `DamageWarning` comes out of a store, whatever it says.
"""

import random
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile_kinds import KINDS
from hostile_stores import bases, written_with
from hypothesis import given, settings
from hypothesis import strategies as st
from store_cases import ACCESSORS

import dynascope as ds

Questions = dict[str, Callable[[ds.Run], Any]]
BY_PART = {
    "marks": [name for name in KINDS if name.startswith("mark")],
    "sweeps": [name for name in KINDS if name.startswith("sweep")],
    "sidecars": [name for name in KINDS if name.startswith("analyses")],
}
BY_PART["shards"] = [name for name in KINDS if not any(name in names for names in BY_PART.values())]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bases") / "bases"
    bases(folder)
    return folder


# The other two read sixty columns of each run.
QUICK = {name: ask for name, ask in ACCESSORS.items() if name not in ("curves", "table")}


def read_everything(folder: Path, questions: Questions = ACCESSORS) -> list[str]:
    """Ask for all that a store says; returns what was refused, and how."""
    told = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        runs = ds.load(folder)
        assert len(runs) == len(runs.ids)
        runs.table()
        for run in runs[:6]:
            for ask in questions.values():
                try:
                    ask(run)
                except ds.DynascopeError as error:
                    told.append(str(error))
    assert all(issubclass(each.category, ds.DamageWarning) for each in caught)
    return [*told, *(str(each.message) for each in caught)]


LARGE = [
    name
    for name in BY_PART["shards"]
    if any(
        word in name for word in ("row", "million", "megabytes", "thousand", "many times", "grow")
    )
]


def several_at_once(names: list[str], count: int = 4) -> list[list[str]]:
    """All of them, in groups, of which most are in different files; what is large by itself."""
    small = [name for name in names if name not in LARGE]
    groups = -(-len(small) // count)
    return [*(small[at::groups] for at in range(groups)), *([n] for n in names if n in LARGE)]


@pytest.mark.parametrize("names", several_at_once(BY_PART["shards"]))
def test_shards(base: Path, tmp_path: Path, names: list[str]) -> None:
    written_with(names, random.Random(names[0]), "several", tmp_path / "store", base)
    for line in read_everything(tmp_path / "store", QUICK):
        assert len(line) < 2000


@pytest.mark.parametrize("names", several_at_once(BY_PART["sidecars"]))
def test_sidecars(base: Path, tmp_path: Path, names: list[str]) -> None:
    written_with(names, random.Random(names[0]), "several", tmp_path / "store", base)
    read_everything(tmp_path / "store", {})


@pytest.mark.slow
@pytest.mark.parametrize("name", [*BY_PART["shards"], *BY_PART["sidecars"]])
def test_each_by_itself(base: Path, tmp_path: Path, name: str) -> None:
    written_with([name], random.Random(name), "several", tmp_path / "store", base)
    read_everything(tmp_path / "store")


@pytest.mark.parametrize("name", BY_PART["marks"])
def test_marks(base: Path, tmp_path: Path, name: str) -> None:
    written_with([name], random.Random(name), "several", tmp_path / "store", base)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ds.DamageWarning)
        runs = ds.load(tmp_path / "store")
        runs.table(["id", "tags", "note"])


NAMED = {
    "runs: footer without batch": "batch is missing",
    "runs: footer that is no JSON": "its JSON cannot be read",
    "runs: deep footer": "nested too deeply|belongs in another folder",
    "100,000 equal rows": "100000 rows in 1 groups, not 1 to 1000",
    "2 million rows": "2000000 rows in",
    "several row groups": "in one",
    "deep header": "nested too deeply|not a table",
    "null curves": "curve|null",
    "curves too short": "value for each epoch",
    "tensors over each other": "lie over each other|at most",
}


LARGE = ("100,000 equal rows", "2 million rows")  # which take seconds to write


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in LARGE else ()) for name in NAMED],
)
def test_what_is_said(base: Path, tmp_path: Path, name: str) -> None:
    """The file is named, and why it is left out."""
    written_with([name], random.Random(name), "several", tmp_path / "store", base)
    told = read_everything(tmp_path / "store")
    assert any(re.search(NAMED[name], line) for line in told), told
    assert all(".parquet" in line or ".safetensors" in line for line in told)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_kinds(
    base: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    names = data.draw(st.lists(st.sampled_from(BY_PART["shards"]), min_size=1, max_size=4))
    seed = data.draw(st.integers(0, 2**32))
    folder = tmp_path_factory.mktemp("any") / "store"
    written_with(names, random.Random(seed), "several", folder, base)
    read_everything(folder)


def test_there_are_enough() -> None:
    assert len(BY_PART["shards"]) >= 56
    assert len(BY_PART["marks"]) >= 18

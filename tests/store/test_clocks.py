"""A clock that was wrong once, here or elsewhere: what is said later counts all the same."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_cases import train

import dynascope as ds
from dynascope.cli import main
from dynascope.store.clock import LAST
from dynascope.store.marks import Mark, Marks, mark, read_marks
from dynascope.store.tensors import digest

YEAR = 365 * 24 * 3600 * 10**9
# What a clock said when something was first said, in nanoseconds away from now.
ERRORS = {
    "a second ahead": 10**9,
    "a year ahead": YEAR,
    "a century ahead": 100 * YEAR,
    "1970": -(10**19),
    "right": 0,
}
# Something said, what takes it back, and how that shows.
COMMANDS: dict[str, tuple[list[str], list[str], Callable[[Path], bool]]] = {
    "restore": (["delete"], ["restore"], lambda store: len(ds.load(store)) == 2),
    "delete": (["restore"], ["delete"], lambda store: len(ds.load(store)) == 0),
    "note": (["note", "old"], ["note", "new"], lambda store: ds.load(store)[0].note == "new"),
    "no note": (["note", "old"], ["note", ""], lambda store: ds.load(store)[0].note is None),
    "untag": (["tag", "x"], ["tag", "x", "--remove"], lambda store: ds.load(store)[0].tags == []),
    "tag": (["tag", "x", "--remove"], ["tag", "x"], lambda store: ds.load(store)[0].tags == ["x"]),
}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    train().save(tmp_path / "store")
    return tmp_path / "store"


def put(store: Path, said: object) -> Path:
    """A file that says this, under the name that its contents have."""
    contents = json.dumps(said).encode()
    file = store / "marks" / f"{digest(contents)}.json"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(contents)
    return file


def said_before(store: Path, words: list[str], at: int) -> None:
    action = "untag" if "--remove" in words else words[0]
    value = words[1] if len(words) > 1 else ""
    runs = [run.id for run in ds.load(store)]
    put(store, {"format": 1, "time": at, "action": action, "value": value, "runs": runs})


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_command_says_holds(command: str, error: str, store: Path) -> None:
    before, now, shows = COMMANDS[command]
    said_before(store, before, max(0, time.time_ns() + ERRORS[error]))
    assert main([now[0], str(store), *now[1:], "--all"]) == 0
    assert shows(store)


@pytest.mark.parametrize("clock", [0, 1, 10**18, LAST - 1])
def test_a_clock_that_stands_still(
    clock: int, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of several marks comes after the one before."""
    monkeypatch.setattr("time.time_ns", lambda: min(clock, LAST - 100))
    runs = ds.load(store)
    for value in ("a", "b", "a", "c"):
        runs.note(value)
        assert ds.load(store)[0].note == value
    runs.delete()
    ds.load(store, deleted=True).restore()
    assert len(ds.load(store)) == 2


def test_a_mark_from_the_end_of_time_is_named(
    store: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nothing can be later; to say done would be a lie."""
    runs = [run.id for run in ds.load(store)]
    file = put(store, {"format": 1, "time": LAST, "action": "note", "value": "x", "runs": runs})
    assert main(["note", str(store), "y", "--all"]) == 2
    said = capfd.readouterr().err
    assert file.name in said
    assert "move this file away" in said
    file.unlink()
    assert main(["note", str(store), "y", "--all"]) == 0
    assert ds.load(store)[0].note == "y"


def test_what_cannot_be_read_back_is_an_error(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dynascope.store.marks.write", lambda *args: None)
    with pytest.raises(ds.DynascopeError, match="does not hold when it is read back"):
        ds.load(store).tag("x")


def test_runs_saved_after_a_clock_was_ahead_come_last(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as context:
        context.setattr("time.time_ns", lambda: 4 * 10**18)
        train(seeds=[5]).save(store, append=True)
    train(seeds=[3]).save(store, append=True)
    assert ds.load(store).seeds == [0, 1, 5, 3]


def test_a_sweep_extended_after_a_clock_was_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = {"base": {"training.epochs": 1, "task.train_size": 32}}
    with monkeypatch.context() as context:
        context.setattr("time.time_ns", lambda: 4 * 10**18)
        ds.sweep({**grid, "seeds": 2}, tmp_path / "sweep", progress=False)
    ds.sweep({**grid, "seeds": 4}, tmp_path / "sweep", progress=False)
    batches = json.loads((tmp_path / "sweep" / "sweep.json").read_text())["sweep"]["batches"]
    assert batches[0] == 4 * 10**18 < batches[1]
    assert ds.load(tmp_path / "sweep").seeds == [0, 1, 2, 3]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0, 10**18, 4 * 10**18, LAST - 50]),
            st.sampled_from(["tag", "untag", "note", "delete", "restore"]),
            st.sampled_from(["x", "y"]),
        ),
        max_size=12,
    )
)
def test_the_last_word_holds(said: list[tuple[int, str, str]]) -> None:
    """Whatever a clock says each time: the state is the one of the words in their order."""
    import tempfile

    run = "0" * 20
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        store = Path(folder)
        (store / "runs").mkdir()
        expected = Marks()
        for clock, action, value in said:
            patch.setattr("time.time_ns", lambda clock=clock: clock)
            value = "" if action in ("delete", "restore") else value
            mark(store, action, [run], value)
            expected.apply(action, run, value)
        found, damage = read_marks(store)
        assert damage == []
        assert found.notes == expected.notes
        assert found.deleted == expected.deleted
        assert found.tags.get(run, []) == expected.tags.get(run, [])


GOOD = {"format": 1, "time": 5, "action": "tag", "value": "x", "runs": ["0" * 20]}
DEEP = json.loads("[" * 500 + "]" * 500)
HOSTILE: dict[str, object] = {
    **{f"{key} is missing": {k: v for k, v in GOOD.items() if k != key} for key in GOOD},
    **{
        f"{key} is {value!r:.20}": {**GOOD, key: value}
        for key in GOOD
        for value in (None, True, -1, 1.5, float("nan"), 10**30, "", "\ud800", [], {}, [[1]], DEEP)
        if not (key == "runs" and value == [])
    },
    "a run is a number": {**GOOD, "runs": [7]},
    "a run is a list": {**GOOD, "runs": [["0" * 20]]},
    "a run is in capitals": {**GOOD, "runs": ["A" * 20]},
    "a run is too long": {**GOOD, "runs": ["0" * 21]},
    "a run is not ASCII": {**GOOD, "runs": ["٠" * 20]},
    "a tag is too long": {**GOOD, "value": "x" * 65},
    "a tag has a space": {**GOOD, "value": "a b"},
    "a note is too long": {**GOOD, "action": "note", "value": "x" * 10_001},
    "a deletion has a value": {**GOOD, "action": "delete"},
    "an unknown action": {**GOOD, "action": "explode"},
    "a newer format": {**GOOD, "format": 2},
    "a list": [GOOD],
    "a number": 7,
    "nothing": None,
}


class TestHostileMarks:
    """A checksum proves that a file is as it was written, not that it makes sense."""

    @pytest.mark.parametrize("kind", HOSTILE)
    @pytest.mark.filterwarnings("default")
    def test_is_named_and_skipped(
        self, kind: str, store: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        file = put(store, HOSTILE[kind])
        for command in (["check"], ["tag", "y", "--all"], ["query", "SELECT tags FROM runs"]):
            code = main([command[0], str(store), *command[1:]])
            said = capfd.readouterr()
            assert code == (1 if command == ["check"] else 0), said.err
            assert file.name in said.out + said.err, command

    @pytest.mark.parametrize("text", [b"", b"{", b"\xff", b"[" * 100_000, b"9" * 10_000])
    def test_no_json(self, text: bytes, store: Path) -> None:
        file = store / "marks" / f"{digest(text)}.json"
        file.parent.mkdir()
        file.write_bytes(text)
        with pytest.warns(ds.DamageWarning, match="not the JSON that dynascope writes"):
            assert len(ds.load(store)) == 2

    def test_a_huge_file_is_not_read(self, store: Path) -> None:
        (store / "marks").mkdir()
        with open(store / "marks" / f"{'0' * 32}.json", "wb") as file:
            file.truncate(2**40)  # of which the disk holds nothing
        with pytest.warns(ds.DamageWarning, match="larger than"):
            assert len(ds.load(store)) == 2


def test_order_at_equal_times() -> None:
    """As FORMAT.md says: of action, then value."""
    run = ("0" * 20,)
    said = [Mark(5, "untag", "x", run), Mark(5, "tag", "x", run), Mark(5, "note", "b", run)]
    found = Marks.of([*said, Mark(5, "note", "a", run)])
    assert (found.tags[run[0]], found.notes[run[0]]) == ([], "b")

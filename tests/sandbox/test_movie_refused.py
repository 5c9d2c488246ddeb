"""Films that cannot be made: one sentence, exit code 2, and no file, whole or in part."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from analysed import three

import dynascope as ds
from dynascope.cli import main
from dynascope.glossary import panel_titles
from dynascope.platforms import system
from dynascope.sandbox.movie import check_epochs, check_runs


class Bad(NamedTuple):
    """Arguments that are refused, and words of the sentence about them."""

    arguments: str  # after RUN; split at blanks
    words: tuple[str, ...]


def bad(arguments: str, *words: str) -> Bad:
    return Bad(arguments, words)


BAD = [
    bad("", "-o/--out: missing"),
    bad("-o film.avi", "film.avi: expected a name that ends with .mp4, .webm or .gif"),
    bad("-o film.mp5", "did you mean '.mp4'?"),
    bad("-o film", "ends with .mp4, .webm or .gif"),
    bad("-o nowhere/film.mp4", "film.mp4: cannot be written (there is no such folder)"),
    bad("-o folder.mp4", "folder.mp4: expected the name of a file, but got that of a folder"),
    bad("-o a.mp4 --panels decison_map", "panels.decison_map", "did you mean 'decision_map'?"),
    bad("-o a.mp4 --panels loss,,accuracy", "panels: ''"),
    bad("-o a.mp4 --from 9 --to 8", "the last: expected a whole number from 9 to", "got 8"),
    bad("-o a.mp4 --from 90", "the first: expected a whole number from 0 to", "got 90"),
    bad("-o a.mp4 --to 99", "the last: expected a whole number from 0 to", "got 99"),
    bad("-o a.mp4 --to -3", "--to: expected"),
    bad("-o a.mp4 --from 1.5", "--from: expected an epoch: a whole number", "'1.5'"),
    bad("-o a.mp4 --every 0", "every: expected a number from 0.001"),
    bad("-o a.mp4 --every nan", "--every: expected a number such as 2 or 0.5"),
    bad("-o a.mp4 --fps 500", "fps: expected a number from 0.001 to 120"),
    bad("-o a.gif --fps 60", "fps: expected a number from 0.001 to 50"),
    bad("-o a.mp4 --slow 0.5", "slow: expected a number from 1 to 100"),
    bad("-o a.mp4 --size 720p", "size: expected WIDTHxHEIGHT", "1280x720", "'720p'"),
    bad("-o a.mp4 --size 1281x720", "two even numbers of pixels from 320 to 4096"),
    bad("-o a.mp4 --size 99999x720", "two even numbers of pixels from 320 to 4096"),
    bad("-o a.mp4 --theme drak", "theme.drak: unknown theme", "did you mean 'dark'?"),
    bad("-o a.mp4 --axes loose", "axes.loose: unknown axes"),
    bad("-o a.mp4 --compare store#seed=99", "store#seed=99: no such run"),
    bad("-o a.mp4 --compare store#seed=0", "compare: expected another run than the first"),
    bad("-o a.mp4 --browser nothing-here", "--browser: expected the path of Chromium"),
    bad("-o a.mp4 --brwoser x", "--brwoser: unknown option", "did you mean '--browser'?"),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("refused")
    three().save(folder / "store")
    (folder / "folder.mp4").mkdir()
    return folder


def said(place: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command says as it refuses; nothing else has happened."""
    before = sorted(place.rglob("*"))
    code = main(["movie", *arguments])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith("dynascope: ")
    assert err.count("\n") == 1
    assert sorted(place.rglob("*")) == before
    return err


@pytest.mark.parametrize("each", BAD, ids=lambda each: each.arguments)
def test_what_cannot_be_filmed_is_refused(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    each: Bad,
) -> None:
    monkeypatch.chdir(place)
    sentence = said(place, capsys, "store#seed=0", *each.arguments.split())
    for word in each.words:
        assert word in sentence


@pytest.mark.parametrize(
    ("run", "words"),
    [("store", "expected one run"), ("store#seed=0@3", "a run without an epoch"), ("no", "no")],
)
def test_what_is_no_run_is_refused(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    run: str,
    words: str,
) -> None:
    monkeypatch.chdir(place)
    assert words in said(place, capsys, run, "-o", "a.mp4")


def test_without_a_browser_it_says_how_to_get_one(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("PATH", str(place))
    monkeypatch.setattr(system, "browser_places", list)
    sentence = said(place, capsys, "store#seed=0", "-o", "a.mp4")
    for word in ("found no Chromium, Chrome or Edge", "apt install chromium", "--browser PATH"):
        assert word in sentence


def test_a_place_that_cannot_be_written_to_is_told_before_anything_starts(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    assert "/proc/a.mp4: cannot be written" in said(
        place, capsys, "store#seed=0", "-o", "/proc/a.mp4"
    )


# ---- runs ---------------------------------------------------------------------------------------
class Kept:
    """As much of a run as decides which epochs can be shown."""

    id = "a" * 20
    epochs, diverged = 100, None

    def __init__(self, kept: list[int], replayable: bool) -> None:
        self.weight_epochs, self.replayable = kept, replayable


def test_of_a_run_that_cannot_be_replayed_kept_epochs_are_offered() -> None:
    run: Any = Kept([0, 40, 100], replayable=False)
    with pytest.raises(ds.DynascopeError, match=r"none from 50 to 60 .* the nearest is 40"):
        check_epochs([run], (50, 60))
    assert check_epochs([run], (30, 60)) == (30, 60)
    other: Any = Kept([0, 40, 100], replayable=True)
    assert check_epochs([other], (50, 60)) == (50, 60)


def test_a_run_without_weights_is_refused() -> None:
    run = ds.train(ds.Config().replace({"training.epochs": 1}), [0], progress=False)[0]
    without = ds.Run(
        **{**vars(run), "weights": run.weights[:0], "weight_epochs": run.weight_epochs[:0]}
    )
    with pytest.raises(ds.DynascopeError, match="expected a run whose weights were kept"):
        check_runs([without])
    with pytest.raises(ds.DynascopeError, match=r"run: expected a ds\.Run"):
        check_runs([3])  # type: ignore[list-item]


def test_panels_are_those_of_the_sandbox() -> None:
    listed = Path(__file__).parents[2] / "web" / "src" / "model" / "types.ts"
    text = listed.read_text(encoding="utf-8")
    block = text.partition("export const PANELS = [")[2].partition("]")[0]
    assert [name.strip(' ",\n') for name in block.split(",") if name.strip()] == [*panel_titles()]

"""A folder of studies that somebody else made: nothing in it is waited for or believed."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from dynascope.errors import DynascopeError
from dynascope.studies.study_folder import ABOUT, StudyFolder, read_about
from dynascope.studies.timings import TIMINGS, Timings

SOUND = {"format": 1, "scale": "quick", "studies": ["width"]}


def link(path: Path) -> None:
    path.with_name("elsewhere").write_text(json.dumps(SOUND))
    path.symlink_to(path.with_name("elsewhere"))


def huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 2**40)


def holding(text: str) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(text.encode("latin-1")) and None


ODD: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pipe": (os.mkfifo, "cannot be read"),
    "a link": (link, "cannot be read"),
    "a folder": (Path.mkdir, "cannot be read"),
    "huge": (huge, "cannot be read"),
    "empty": (holding(""), "expected what `dynascope study` writes"),
    "no text": (holding("\xff\xfe"), "expected what `dynascope study` writes"),
    "a list": (holding("[]"), "expected what `dynascope study` writes"),
    "deep": (holding("[" * 100_000), "expected what `dynascope study` writes"),
    "odd studies": (
        holding('{"format": 1, "scale": "quick", "studies": [1]}'),
        "expected what `dynascope study` writes",
    ),
    "later": (holding(json.dumps({**SOUND, "format": 2})), "written by a later version"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_not_ours_is_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    make, why = ODD[name]
    make(tmp_path / ABOUT)
    with pytest.raises(DynascopeError, match=why):
        read_about(tmp_path)
    with pytest.raises(DynascopeError, match=why):
        StudyFolder(tmp_path, ["width"], "quick").claim()


@pytest.mark.parametrize("name", ODD)
def test_times_that_are_not_ours_are_none(name: str, tmp_path: Path) -> None:
    ODD[name][0](tmp_path / TIMINGS)
    assert Timings(tmp_path).seconds == {}


def test_a_folder_without_studies_is_none(tmp_path: Path) -> None:
    assert read_about(tmp_path) is None
    assert read_about(tmp_path / "missing") is None
    (tmp_path / "file").touch()
    assert read_about(tmp_path / "file") is None

"""A file that a command makes is there whole, or not at all."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from dynascope import new_file
from dynascope.new_file import FileWriteError, NewFile, write_new_file


def test_a_file_that_is_left_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("before")
    with NewFile(tmp_path / "a.txt") as out:
        out.file.write(b"half")  # and something goes wrong
    assert os.listdir(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "before"
    with NewFile(tmp_path / "a.txt") as out:
        out.file.seek(3)
        out.file.write(b"d")
        out.file.seek(0)
        out.file.write(b"abc")
        out.finish()
    assert os.listdir(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_bytes() == b"abcd"


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def full(*given: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "a.txt").write_text("before")
    monkeypatch.setattr(new_file.os, call, full)
    with pytest.raises(FileWriteError, match=r"a.txt: cannot be written \(the disk is full\)"):
        write_new_file(tmp_path / "a.txt", b"after")
    assert os.listdir(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "before"

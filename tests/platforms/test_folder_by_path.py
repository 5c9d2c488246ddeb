"""Folders by their paths: links in them are refused, and those that come meanwhile are noticed."""

import os
from pathlib import Path

import pytest
from simulated_windows import junction

from dynascope.platforms import folder_by_path, patience
from dynascope.platforms.folder_by_path import FolderByPath
from dynascope.platforms.links import is_link
from dynascope.store import handles


@pytest.fixture
def top(tmp_path: Path) -> FolderByPath:
    (tmp_path / "store").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_bytes(b"years of work")
    return FolderByPath.at(str(tmp_path / "store"))


@pytest.mark.parametrize("name", ["", ".", "..", "../home", "a\\b", "C:", "f:stream", "f.", "f "])
def test_only_single_names(name: str, top: FolderByPath) -> None:
    with pytest.raises(OSError, match="file name on every system"):
        top.open(name, os.O_RDWR | os.O_CREAT)
    with pytest.raises(OSError, match="file name on every system"):
        top.stat(name)


def test_a_folder_that_was_replaced_is_noticed(top: FolderByPath, tmp_path: Path) -> None:
    top.make_folder("runs")
    runs = top.folder("runs")
    os.close(runs.open("one", os.O_RDWR | os.O_CREAT))
    (tmp_path / "store" / "runs").rename(tmp_path / "kept")
    (tmp_path / "store" / "runs").mkdir()
    for use in (runs.names, lambda: runs.open("new", os.O_RDWR | os.O_CREAT)):
        with pytest.raises(OSError, match="replaced by another"):
            use()
    (tmp_path / "store" / "runs").rmdir()
    (tmp_path / "store" / "runs").symlink_to(tmp_path / "kept")
    with pytest.raises(OSError, match="symbolic links"):
        runs.remove("one")
    assert (tmp_path / "kept" / "one").exists()


def test_a_link_that_comes_between_look_and_open_gives_nothing(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_bytes(b"years of work")
    (tmp_path / "store").mkdir()
    opened: list[int] = []

    def swapping(path: str, flags: int, mode: int) -> int:
        """Somebody puts a link there after the look, and takes it away after the opening."""
        os.unlink(path)
        os.symlink(tmp_path / "thesis.tex", path)
        opened.append(os.open(path, flags, mode))
        os.unlink(path)
        Path(path).write_bytes(b"innocent")
        return opened[-1]

    (tmp_path / "store" / "f").write_bytes(b"innocent")
    folder = FolderByPath.at(str(tmp_path / "store"), swapping)
    with pytest.raises(OSError, match="again and again"):
        folder.open("f", os.O_RDONLY)
    for handle in opened:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(handle)


def test_a_file_that_is_replaced_once_is_opened(tmp_path: Path) -> None:
    """As a reader of `sweep.json` must, while a sweep writes it."""
    (tmp_path / "f").write_bytes(b"old")
    times = []

    def replaced(path: str, flags: int, mode: int) -> int:
        handle = os.open(path, flags, mode)
        if not times:
            (tmp_path / "g").write_bytes(b"new")
            os.replace(tmp_path / "g", path)
        times.append(handle)
        return handle

    handle = FolderByPath.at(str(tmp_path), replaced).open("f", os.O_RDONLY)
    assert os.read(handle, 10) == b"new"
    assert len(times) == 2
    os.close(handle)


def test_a_junction_is_a_link(
    top: FolderByPath, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = junction(os.lstat(tmp_path))
    assert is_link(about)
    assert not is_link(os.lstat(tmp_path))
    about.st_reparse_tag = 0x9000001A  # a file that a cloud keeps is the file itself
    assert not is_link(about)
    real = os.lstat
    (tmp_path / "store" / "runs").mkdir()
    monkeypatch.setattr(
        "os.lstat", lambda path: junction(real(path)) if str(path).endswith("runs") else real(path)
    )
    with pytest.raises(OSError, match="symbolic links"):
        top.folder("runs")
    folder = handles.Folder(tmp_path / "store", top)
    assert not folder.holds_folder("runs")
    with pytest.raises(OSError, match="links inside a store are not followed"):
        folder.folder("runs")
    with pytest.raises(OSError, match="links inside a store are not followed"):
        folder.file("runs")


def test_a_file_system_without_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_by_path.os.path, "samestat", lambda one, other: False)
    with pytest.raises(OSError, match="replaced"):
        FolderByPath.at(str(tmp_path)).names()
    real = os.stat

    def without(path: str) -> os.stat_result:
        numbers = list(real(path))
        numbers[1] = 0
        return os.stat_result(numbers)

    monkeypatch.setattr("os.stat", without)
    assert FolderByPath.at(str(tmp_path)).names() == []


def test_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(patience.time, "sleep", waited.append)
    left = [PermissionError(13, "open elsewhere")] * 3

    def change() -> None:
        if left:
            raise left.pop()

    patience.patiently(change)
    assert len(waited) == 3
    left += [PermissionError(13, "open elsewhere")] * 50
    with pytest.raises(PermissionError):
        patience.patiently(change)
    assert 0.5 < sum(waited[3:]) < 2

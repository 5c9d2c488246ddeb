"""On macOS a file is on the disk only after a full sync."""

import fcntl
import os
from pathlib import Path

import pytest

from dynascope.platforms import full_sync


@pytest.mark.parametrize("offered", [True, False])
def test_macos_waits_for_the_disk(
    offered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = []

    def control(handle: int, command: int) -> None:
        assert command == 51
        if not offered:  # as by a network drive
            raise OSError(45, "Operation not supported")
        done.append("full")

    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", control)
    monkeypatch.setattr(os, "fsync", lambda handle: done.append("plain"))
    full_sync.sync(0)
    assert done == ["full" if offered else "plain"]


def test_elsewhere_fsync_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []
    monkeypatch.setattr(os, "fsync", done.append)
    full_sync.sync(7)
    assert done == [7]

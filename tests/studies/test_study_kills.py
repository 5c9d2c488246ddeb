"""Killed at random moments and resumed, or made by two Ray workers: the same report."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import small_studies
from cluster import Cluster, cluster
from processes import environment

from dynascope.studies.results import StudyResults

SMALL = [sys.executable, str(Path(small_studies.__file__))]
BOTH = ["study", "width", "bounds", "--out", "s", "--quiet"]
PARTS = ("report.html", "claims.json", "data/*", "figures/*")


def told(folder: Path) -> dict[str, bytes]:
    """All that a report is made of."""
    files = [file for part in PARTS for file in folder.glob(part)]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def start(folder: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([*SMALL, *BOTH], cwd=folder, env=environment())


def files(folder: Path) -> int:
    """How far it is: files that are there, finished or not."""
    # Not `rglob`, which fails if a folder goes away while it looks.
    return sum(len(folders) + len(files) for _, folders, files in os.walk(folder))


@pytest.mark.slow
def test_killed_and_resumed_it_ends_with_the_same_bytes(
    studied: StudyResults, tmp_path: Path
) -> None:
    """The moments are numbers of files, so that they lie within the work however fast that is."""
    chance, kills = random.Random(17), 0
    whole = files(studied.folder)
    for moment in sorted(chance.sample(range(1, whole), 6)):
        process = start(tmp_path)
        while process.poll() is None and files(tmp_path) < moment:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.05))
        process.kill()
        kills += process.wait() == -9
    assert kills >= 3
    assert start(tmp_path).wait(timeout=120) == 0
    assert told(tmp_path / "s") == told(studied.folder)
    killed = [file.name for file in (tmp_path / "s").glob(".*") if file.name != ".lock"]
    assert killed == []


@pytest.fixture(scope="module")
def ray() -> Iterator[Cluster]:
    with cluster() as made:
        yield made


@pytest.mark.slow
def test_two_ray_workers_give_the_same_report(
    ray: Cluster, studied: StudyResults, tmp_path: Path
) -> None:
    process = ray.start([*SMALL, "study", "width", "bounds", "--out", str(tmp_path / "s")])
    out, error = process.communicate(timeout=180)
    assert process.returncode == 0, error
    assert "5 claims: 2 hold, " in out
    assert told(tmp_path / "s") == told(studied.folder)

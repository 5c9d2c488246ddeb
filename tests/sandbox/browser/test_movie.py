"""`dynascope movie` and `ds.movie`: films from a browser without windows, decoded again."""

import os
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import CHROMIUM
from command_line import ENVIRONMENT
from films import Picture, decoded, decoded_gif, difference, loudness
from processes import COMMAND
from showing import until

import dynascope as ds
from dynascope.progress import Status

SIZE = (640, 360)
LATEST = 120.0  # seconds, on a machine that does much else
PANELS = ["sequence", "decision_map", "loss"]


def command(folder: Path, *arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*COMMAND, "movie", *map(str, arguments), "--browser", CHROMIUM],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def playhead(frame: Picture) -> float:
    """Where the playhead's handle is, as a share of the picture's width: it alone has this blue at
    the bottom."""
    height = frame.shape[0]
    below = frame[int(0.8 * height) :].astype(int)
    blue = np.abs(below - np.array([0x25, 0x63, 0xEB])).sum(axis=2) < 60
    columns = np.flatnonzero(blue.sum(axis=0) >= 5)
    return float(columns.mean() / frame.shape[1])


@pytest.mark.parametrize(("kind", "codec"), [("mp4", "h264"), ("webm", "vp9")])
def test_a_movie_has_every_frame_in_order(
    runs: dict[str, ds.Run], tmp_path: Path, kind: str, codec: str
) -> None:
    told: list[tuple[int, int]] = []

    def progress(status: Status) -> None:
        told.append((status.finished_epochs, status.epochs))

    made = ds.movie(
        runs["solved"],
        tmp_path / f"run.{kind}",
        panels=PANELS,
        epochs=(10, 50),
        every=2,
        fps=25,
        size=SIZE,
        browser=CHROMIUM,
        progress=progress,
    )
    assert os.listdir(tmp_path) == [f"run.{kind}"]
    assert (made.frames, made.size, made.seconds) == (21, SIZE, 21 / 25)
    film = decoded(made.path)
    assert (film.codec, len(film.frames)) == (codec, 21)
    assert film.frames[0].shape == (SIZE[1], SIZE[0], 3)
    assert np.allclose(film.times, np.arange(21) / 25, atol=1e-3)
    places = np.array([playhead(frame) for frame in film.frames])
    line = np.polyfit(np.arange(10, 51, 2), places, 1)
    assert line[0] * 150 == pytest.approx(0.88, abs=0.08)  # the run is as wide as the bar
    assert np.abs(np.polyval(line, np.arange(10, 51, 2)) - places).max() < 0.01
    assert told[-1] == (21, 21)
    assert told == sorted(told)


@pytest.mark.slow
def test_a_movie_is_the_same_again(runs: dict[str, ds.Run], tmp_path: Path) -> None:
    """Frames are a function of their epochs: following axes glide by the film's time."""
    films = []
    for name in ("a.mp4", "b.mp4"):
        ds.movie(
            runs["solved"],
            tmp_path / name,
            panels=PANELS,
            epochs=(0, 30),
            size=SIZE,
            browser=CHROMIUM,
            progress=False,
        )
        films.append(decoded(tmp_path / name).frames)
    assert [loudness(a, b) > 45 for a, b in zip(*films, strict=True)] == [True] * 31
    assert difference(films[0][0], films[0][30]) > 1


@pytest.mark.parametrize("more", [{"theme": "dark"}, {"compare": "noted"}, {"panels": PANELS[:1]}])
def test_a_gif_of_any_view(runs: dict[str, ds.Run], tmp_path: Path, more: dict[str, Any]) -> None:
    if "compare" in more:
        more = {"compare": runs[more["compare"]]}
    made = ds.movie(
        runs["solved"],
        tmp_path / "run.gif",
        **{"panels": PANELS, **more},
        epochs=(0, 60),
        every=15,
        size=SIZE,
        browser=CHROMIUM,
        progress=False,
    )
    film = decoded_gif(made.path)
    assert len(film.frames) == 5
    assert np.allclose(np.diff(film.times), 0.05)
    assert (np.mean(film.frames[0]) < 100) == (more.get("theme") == "dark")
    assert all(difference(a, b) > 0.2 for a, b in zip(film.frames, film.frames[1:], strict=False))


def test_a_run_in_memory_has_its_movie(tmp_path: Path) -> None:
    run = ds.train(ds.Config().replace({"training.epochs": 4}), [0], progress=False)[0]
    made = ds.movie(
        run, tmp_path / "run.mp4", panels=["loss"], size=SIZE, browser=CHROMIUM, progress=False
    )
    assert len(decoded(made.path).frames) == 5


def test_a_hessian_that_is_named_is_computed_first(runs: dict[str, ds.Run], tmp_path: Path) -> None:
    made = ds.movie(
        runs["noted"],
        tmp_path / "run.mp4",
        panels=["hessian"],
        epochs=(0, 150),
        every=150,
        size=SIZE,
        browser=CHROMIUM,
        progress=False,
    )
    first, last = decoded(made.path).frames
    panel = slice(40, int(0.75 * SIZE[1]))
    assert difference(first[panel], last[panel]) > 0.2  # eigenvalues of two epochs


def test_epochs_that_were_not_kept_are_computed_again(
    runs: dict[str, ds.Run], tmp_path: Path
) -> None:
    made = ds.movie(
        runs["sparse"],
        tmp_path / "run.webm",
        panels=["sequence"],
        epochs=(10, 20),
        size=SIZE,
        browser=CHROMIUM,
        progress=False,
    )
    assert made.frames == 11


# ---- the command --------------------------------------------------------------------------------
def test_the_command_tells_what_it_made(
    runs: dict[str, ds.Run], place: Path, tmp_path: Path
) -> None:
    address = f"{place / 'store'}#{runs['solved'].id[:8]}"
    process = command(
        tmp_path, address, "--panels", "loss,sequence", "--from", 5, "--to", 9, "--slow", 2,
        "--size", "640x360", "--axes", "fixed", "-o", "film.mp4",
    )  # fmt: skip
    out, err = process.communicate(timeout=LATEST)
    assert (process.returncode, err) == (0, "")
    assert out.startswith("film.mp4: 5 frames, 0.2 s, 640x360, H.264, ")
    assert os.listdir(tmp_path) == ["film.mp4"]


@pytest.mark.parametrize(
    "end", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_stopped_in_the_middle_nothing_is_left(
    runs: dict[str, ds.Run], place: Path, tmp_path: Path, end: int
) -> None:
    """No file, no process, no profile."""
    address = f"{place / 'store'}#{runs['solved'].id[:8]}"
    folder = tmp_path / "out"
    folder.mkdir()
    profiles = Path(tempfile.mkdtemp(dir="/tmp"))  # a short name, as systems have it
    environment = {**ENVIRONMENT, "TMPDIR": str(profiles)}
    process = subprocess.Popen(
        [*COMMAND, "movie", address, "-o", "film.gif", "--every", "0.01", "--browser", CHROMIUM],
        cwd=folder,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )

    def ours() -> list[str]:
        return [line for line in command_lines() if str(profiles) in line]

    try:
        assert until(lambda: any(each.stat().st_size for each in folder.iterdir()), LATEST)
        assert ours()
        process.send_signal(end)
        _, err = process.communicate(timeout=LATEST)
    finally:
        if process.poll() is None:
            process.kill()
    assert (process.returncode, err) == (1, "dynascope: stopped.\n")
    assert os.listdir(folder) == []
    assert until(lambda: not ours())
    profiles.rmdir()  # it is empty


def command_lines() -> list[str]:
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(each.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


def test_a_temporary_folder_with_a_long_name_is_no_trouble(
    runs: dict[str, ds.Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser's sockets have at most 107 characters."""
    long = tmp_path / ("x" * 90)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    options = {"panels": ["loss"], "epochs": (0, 2), "size": SIZE, "browser": CHROMIUM}
    made = ds.movie(runs["solved"], tmp_path / "run.mp4", **options, progress=False)
    assert made.frames == 3
    assert list(long.iterdir()) == []


def test_a_browser_that_ends_is_told(runs: dict[str, ds.Run], tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho 'no display' >&2\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(ds.DynascopeError, match=r"ended before the film was done \(no display\)"):
        ds.movie(runs["solved"], tmp_path / "run.mp4", browser=str(broken), progress=False)
    assert os.listdir(tmp_path) == ["broken"]

"""Films: a browser without windows opens the sandbox, then draws and encodes every frame."""

import base64
import json
import math
import os
import re
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dynascope.errors import DynascopeError, expected, unknown
from dynascope.glossary import panel_titles
from dynascope.near_misses import guided
from dynascope.new_file import NewFile, check_new_file
from dynascope.progress import Report, Status, reporter
from dynascope.run import Run, Runs
from dynascope.sandbox.headless import BrowserError, HeadlessBrowser, NotNowError, find_browser
from dynascope.sandbox.server import Sandbox
from dynascope.store.stored import StoredRun

KINDS = ("mp4", "webm", "gif")
THEMES = ("light", "dark")
AXES = ("follow", "fixed")
USUAL_SIZE = (1280, 720)
USUAL_FPS = {"mp4": 30.0, "webm": 30.0, "gif": 20.0}
PLAYED_EVERYWHERE = "H.264"  # of what an MP4 may hold
_SIDES = (320, 4096)  # pixels
_MOST_FPS = {"mp4": 120, "webm": 120, "gif": 50}
_MOST_SLOW = 100
_OPEN_SECONDS = 60.0  # in which the page must be there
_SIZE = re.compile(r"([0-9]{2,5})x([0-9]{2,5})", re.ASCII)


@dataclass(frozen=True)
class Movie:
    """What was made."""

    path: Path
    frames: int
    seconds: float
    size: tuple[int, int]
    codec: str | None  # None: a GIF


@guided
def movie(
    run: Run,
    path: str | os.PathLike[str],
    *,
    compare: Run | None = None,
    panels: Sequence[str] | None = None,
    epochs: tuple[int, int] | None = None,
    every: float = 1,
    fps: float | None = None,
    size: tuple[int, int] = USUAL_SIZE,
    theme: Literal["light", "dark"] = "light",
    axes: Literal["follow", "fixed"] = "follow",
    slow: float = 1,
    browser: str | None = None,
    progress: bool | Report = True,
) -> Movie:
    """Make a film of a run, as the sandbox shows it: `run.mp4`, `.webm` or `.gif`.

    `compare`: another run beside it. `epochs`: the first and the last that are shown. `slow`: how
    many times slower it goes around spikes. A Chromium, Chrome or Edge must be installed.
    """
    target = check_new_file(path, [f".{each}" for each in KINDS])
    kind = kind_of(target)
    sides = check_size(size)
    order: dict[str, Any] = {
        "kind": kind,
        "every": _positive("every", every, 1e6),
        "fps": _positive("fps", USUAL_FPS[kind] if fps is None else fps, _MOST_FPS[kind]),
        "slow": _positive("slow", slow, _MOST_SLOW, least=1),
        "width": sides[0],
        "height": sides[1],
    }
    runs = check_runs([run] if compare is None else [run, compare])
    first, last = check_epochs(runs, epochs)
    chosen = check_panels(panels)
    order |= {"from": first, "to": last, "curvature": panels is not None and "hessian" in chosen}
    view = _fragment(runs, chosen, _choice("theme", theme, THEMES), _choice("axes", axes, AXES))
    report = reporter(progress)
    with ExitStack() as stack:
        program = find_browser(browser)
        out = stack.enter_context(NewFile(target))
        address = stack.enter_context(_served(runs))
        page = stack.enter_context(HeadlessBrowser(program))
        page.open(address + view)
        try:
            news = _record(page, order, out, report)
        finally:
            if report is not None and hasattr(report, "close"):
                report.close()
        out.finish()
    return Movie(out.path, news["frames"], news["frames"] / order["fps"], sides, news["codec"])


# ---- what is asked for --------------------------------------------------------------------------
def kind_of(path: Path) -> str:
    """The kind of film that a file's name asks for."""
    return path.suffix.lower().removeprefix(".")


def check_panels(panels: Sequence[str] | None) -> tuple[str, ...]:
    """The names of panels, in the order of the sandbox; None is all of them."""
    names = tuple(panel_titles())
    if panels is None:
        return names
    if isinstance(panels, str) or not isinstance(panels, Iterable) or not list(panels):
        raise expected("panels", "a list of panels' names", panels)
    for name in panels:
        if name not in names:
            raise unknown("panels", name, names, kind="panel")
    return tuple(name for name in names if name in set(panels))


def read_size(text: str) -> tuple[int, int]:
    """A size as people write it: 1280x720."""
    found = _SIZE.fullmatch(text)
    if found is None:
        raise expected("size", "WIDTHxHEIGHT in pixels, such as 1280x720", text)
    return int(found[1]), int(found[2])


def check_size(size: tuple[int, int]) -> tuple[int, int]:
    """A size that can be encoded: both sides even."""
    least, most = _SIDES
    sides = list(size) if isinstance(size, tuple | list) else []
    sound = len(sides) == 2 and all(
        isinstance(each, int) and least <= each <= most and each % 2 == 0 for each in sides
    )
    if not sound:
        raise expected("size", f"two even numbers of pixels from {least} to {most}", size)
    return sides[0], sides[1]


def check_runs(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Runs whose weights were kept, each once."""
    for run in runs:
        if not isinstance(run, Run):
            raise expected("run", "a ds.Run", run)
        if not len(run.weight_epochs):
            raise DynascopeError(
                f"run {run.id}: expected a run whose weights were kept, but it has none to draw."
            )
    if len(runs) == 2 and runs[0].id == runs[1].id:
        raise expected("compare", "another run than the first", runs[1].id)
    return tuple(runs)


def check_epochs(runs: Sequence[Run], epochs: tuple[int, int] | None) -> tuple[int, int]:
    """The first and the last epoch of a film. At least one between them must have weights."""
    last = max(run.epochs if run.diverged is None else run.diverged for run in runs)
    first, end = (0, last) if epochs is None else epochs
    for name, value, least in (("first", first, 0), ("last", end, first)):
        if not isinstance(value, int) or not least <= value <= last:
            raise expected(f"epochs: the {name}", f"a whole number from {least} to {last}", value)
    for run in runs:
        if not run.replayable:
            _check_kept(run, first, end)
    return first, end


def _check_kept(run: Run, first: int, last: int) -> None:
    kept = [int(epoch) for epoch in run.weight_epochs]
    if any(first <= epoch <= last for epoch in kept):
        return
    nearest = min(kept, key=lambda epoch: min(abs(epoch - first), abs(epoch - last)))
    raise DynascopeError(
        f"epochs: expected epochs whose weights were kept, but run {run.id} has none from {first} "
        f"to {last} and cannot be replayed; the nearest is {nearest}."
    )


def _positive(name: str, value: float, most: float, least: float = 0.001) -> float:
    sound = isinstance(value, int | float) and not isinstance(value, bool)
    if not sound or not math.isfinite(value) or not least <= value <= most:
        raise expected(name, f"a number from {least:g} to {most:g}", value)
    return float(value)


def _choice(name: str, value: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise unknown(name, value, choices, kind=name)
    return value


def _fragment(runs: Sequence[Run], panels: Sequence[str], theme: str, axes: str) -> str:
    """The view that is filmed, as the client writes it into its address."""
    hidden = ",".join(name for name in panel_titles() if name not in panels)
    ids = ",".join(run.id for run in runs)
    return f"#v=1&run={ids}&theme={theme}&axes={axes}&hide={hidden}"


# ---- how it is made -----------------------------------------------------------------------------
@contextmanager
def _served(runs: Sequence[Run]) -> Iterator[str]:
    """The address of the sandbox with these runs, on this machine alone."""
    with ExitStack() as stack:
        sandbox = Sandbox(_folder_of(runs, stack))
        thread = threading.Thread(target=sandbox.run, daemon=True)
        thread.start()
        try:
            yield sandbox.address
        finally:
            sandbox.stop()
            thread.join(10)
            sandbox.close()


def _folder_of(runs: Sequence[Run], stack: ExitStack) -> Path:
    """The folder that holds the runs; runs in memory or of two folders are put into a new one."""
    folders = {run.folder if isinstance(run, StoredRun) else None for run in runs}
    if len(folders) == 1 and (only := folders.pop()) is not None:
        return only
    made = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dynascope-"))) / "runs"
    Runs(run.loaded() for run in runs).save(made)
    return made


def _record(
    page: HeadlessBrowser, order: dict[str, Any], out: NewFile, report: Report | None
) -> dict[str, Any]:
    """Have the film made, and write what comes."""
    _wait_for_page(page)
    page.evaluate(f"dynascope.films().then((films) => films.startFilm({json.dumps(order)}))")
    status = Status(runs=1, epochs=0, unit="frames")
    while True:
        news: dict[str, Any] = page.evaluate("dynascope.films().then((films) => films.filmNews())")
        for piece in news["pieces"]:
            out.file.seek(piece["position"])
            out.file.write(base64.b64decode(piece["base64"]))
        status.epochs, status.finished_epochs = news["of"], news["frames"]
        if report is not None and news["of"]:
            report(status)
        if news["error"]:
            raise (BrowserError if news["fault"] else DynascopeError)(news["error"])
        if news["done"]:
            return news


def _wait_for_page(page: HeadlessBrowser) -> None:
    deadline = time.monotonic() + _OPEN_SECONDS
    while not _is_open(page):
        if time.monotonic() > deadline:
            raise BrowserError("The browser did not open the page in time.")
        time.sleep(0.05)


def _is_open(page: HeadlessBrowser) -> bool:
    try:
        return bool(page.evaluate("'dynascope' in globalThis"))
    except NotNowError:  # between two pages there is none
        return False

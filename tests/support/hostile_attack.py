"""Every command and every route against one hostile store, in this process.

What must hold: no exception leaves a command, its exit code is 0, 1 or 2, each line on stderr is
ours; no answer is a 500; nothing outside the store and the folders that a command was given is
written or removed.
"""

import asyncio
import contextlib
import io
import os
import random
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib.font_manager  # noqa: F401  (it makes its own folders now, before any Watch is on)

import dynascope as ds
from dynascope.cli import main
from dynascope.errors import DynascopeError
from dynascope.figure_layouts import LAYOUTS
from dynascope.sandbox.app import Api, answering
from dynascope.sandbox.background import BackgroundWork
from dynascope.sandbox.guard import Guard
from dynascope.sandbox.library import Library
from dynascope.sandbox.security import Keys
from dynascope.sandbox.store_answers import Shown

_PORT = 4321
_SOME_RUNS = 2  # of a store, looked at one by one
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Faults(list[str]):
    """What went wrong, and how often what came out."""

    def __init__(self) -> None:
        super().__init__()
        self.outcomes: Counter[str] = Counter()


# ---- commands -----------------------------------------------------------------------------------


def commands(store: Path, grid: Path, out: Path, ids: list[str]) -> Iterator[list[str]]:
    """All that ask about a store or change it; those that change most come last."""
    folder = str(store)
    yield ["check", folder]
    yield ["query", folder, "SELECT * FROM runs"]
    yield ["query", folder, "SELECT verdict, count(*), avg(accuracy) FROM runs GROUP BY 1"]
    yield ["query", folder, "SELECT id, test_loss[-1], len(train_loss) FROM runs", "--csv"]
    yield ["sweep", "--status", folder]
    yield ["sweep", str(grid), "--dry-run", "--out", folder]
    for run in ids:
        yield ["report", f"{folder}#{run}"]
    for run in ids[:1]:
        yield ["report", f"{folder}#{run}@1", "--json"]
        yield ["export", f"{folder}#{run}", "-o", f"{out}/run.html", "--quiet"]
        for layout in (each for each in LAYOUTS if each != "circuits"):
            picture = f"{out}/{layout}.png"
            yield ["figure", layout, f"{folder}#{run}", "-o", picture, "--data", f"{picture}.csv"]
    yield ["figure", "circuits", folder, "-o", f"{out}/circuits.svg"]
    for number, run in enumerate(ids[-1:]):
        goes_on = ["--continue", "--epochs", "33"]
        yield [
            "train",
            "--from",
            f"{folder}#{run}",
            *goes_on,
            "--quiet",
            "--out",
            f"{out}/on{number}",
        ]
        once = ["--epochs", "1", "--quiet", "--out", f"{out}/tuned{number}"]
        yield ["train", "--from", f"{folder}#{run}", *once]
    yield ["report", folder, "--json"]
    yield ["report", folder]
    yield ["tag", folder, "seen", "--all"]
    yield ["note", folder, "a note", "--where", "seed >= 0"]
    yield ["delete", folder, "--where", "seed = 1"]
    yield ["restore", folder, "--all"]
    yield ["merge", folder, folder, "--out", f"{out}/merged"]
    yield ["check", f"{out}/merged"]
    yield ["import", folder, "--out", f"{out}/imported"]
    yield ["check", folder, "--set-aside"]
    yield ["sweep", str(grid), "--out", folder, "--quiet"]
    yield ["check", folder]


def some_figures(seed: int) -> Callable[[list[str]], bool]:
    """Which commands the store of a number meets: of figures, which take long to draw, only two."""
    layouts = random.Random(seed).sample([*LAYOUTS], 2)
    return lambda command: command[0] != "figure" or command[1] in layouts


def run_command(arguments: list[str], faults: Faults) -> None:
    stdout, stderr = io.StringIO(), io.StringIO()
    kept = os.dup(1)  # a command that cannot write to stdout closes it
    try:
        with (
            contextlib.redirect_stdout(stdout),
            contextlib.redirect_stderr(stderr),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("default")  # as in a process of its own
            code = main(arguments)
    except BaseException as error:
        if isinstance(error, TimeoutError):
            raise
        faults.append(f"{_told(arguments)}: {_last_lines(error)}")
        return
    finally:
        os.dup2(kept, 1)
        os.close(kept)
    faults.outcomes[f"{arguments[0]} {code}"] += 1
    lines = stderr.getvalue().splitlines()
    strange = [line for line in lines if not line.startswith("dynascope: ")]
    if code not in (0, 1, 2) or strange:
        faults.append(f"{_told(arguments)}: exit {code}, {strange[:3]}")
    if "Traceback" in stdout.getvalue() or any("cannot go on" in line for line in lines):
        faults.append(f"{_told(arguments)}: {lines[-1:]}")
    if code and not lines and arguments[0] != "check":
        faults.append(f"{_told(arguments)}: exit {code} without a word")


def _told(arguments: list[str]) -> str:
    return " ".join(arguments)[:160]


def _last_lines(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)[-4:]).strip()


# ---- routes -------------------------------------------------------------------------------------


def routes(ids: list[str]) -> Iterator[str]:
    yield from ("/api/store", "/api/runs", "/api/runs/sparklines", "/", "/api/nothing")
    for run in [*ids, "0" * 20]:
        here = f"/api/run/{run}"
        yield from (here, f"{here}/curves", f"{here}/weights", f"{here}/analysis")
        yield from (f"{here}/state/{epoch}" for epoch in (0, 4, 30))
        yield from (f"{here}/examples?split={split}" for split in ("train", "test"))
        yield f"{here}/sequences?most=16"
        yield f"{here}/replayed?first=0&last=3"


def ask_everything(store: Path, static: Path, ids: list[str], faults: Faults) -> None:
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            library = Library(store)
        except DynascopeError:
            faults.outcomes["show refused"] += 1
            return
        except Exception as error:
            faults.append(f"show: {_last_lines(error)}")
            return
        works = [BackgroundWork(), BackgroundWork(threads=1)]
        try:
            asyncio.run(_ask(Api(library, *works, static, Shown()), ids, faults))
        finally:
            for work in works:
                work.close(5)


async def _ask(api: Api, ids: list[str], faults: Faults) -> None:
    keys = Keys(_PORT)
    app = Guard(answering(api.routes()), keys, "127.0.0.1")
    headers = [(b"host", f"127.0.0.1:{_PORT}".encode()), (b"cookie", keys.cookie.encode())]
    for target in routes(ids):
        path, _, query = target.partition("?")
        scope: dict[str, Any] = {
            "type": "http",
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", _PORT),
        }
        status: list[int] = []

        async def receive() -> dict[str, Any]:
            await asyncio.Event().wait()  # nobody hangs up
            raise AssertionError

        async def send(message: Any, status: list[int] = status) -> None:
            if message["type"] == "http.response.start":
                status.append(message["status"])

        try:
            await app(scope, receive, send)
        except Exception as error:
            faults.append(f"GET {target}: {_last_lines(error)}")
            continue
        faults.outcomes[f"GET {status[0]}"] += 1
        if status[0] >= 500:
            faults.append(f"GET {target}: {status[0]}")


# ---- what is written ----------------------------------------------------------------------------


class Watch:
    """Notes every file that this process opens for writing, moves or removes, while it is on."""

    def __init__(self) -> None:
        self.on = False
        self.touched: set[str] = set()
        sys.addaudithook(self._hook)  # for good: there is no way to take one away

    def _hook(self, event: str, given: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event == "open" and isinstance(given[2], int) and given[2] & _WRITES:
            self._note(given[0])
        elif event in ("os.remove", "os.rmdir", "os.mkdir"):
            self._note(given[0], given[-1])
        elif event == "os.rename":
            self._note(given[0], given[2])
            self._note(given[1], given[3])
        elif event in ("os.truncate", "os.chmod", "os.symlink", "os.link", "shutil.rmtree"):
            self._note(given[0])

    def _note(self, path: Any, folder: Any = -1) -> None:
        if isinstance(path, int):
            return  # a file that is open already
        name = os.fsdecode(path)
        if not os.path.isabs(name):
            if not isinstance(folder, int) or folder < 0:
                return  # below a handle that the event does not tell: contents are compared
            name = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), name)
        self.touched.add(os.path.normpath(name))

    def strangers(self, *allowed: Path) -> list[str]:
        """What was touched outside of these folders."""
        roots = tuple(f"{os.path.normpath(each)}/" for each in allowed)
        same = {os.path.normpath(each) for each in allowed} | {os.devnull}
        return [
            name
            for name in sorted(self.touched)
            if not name.startswith(roots) and name not in same and "__pycache__" not in name
        ]


def contents(folder: Path) -> dict[str, bytes]:
    """All files around a store."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def attack(
    store: Path, grid: Path, out: Path, static: Path, keep: Callable[[list[str]], bool]
) -> Faults:
    """All routes, and the commands that are to be kept, against a store."""
    faults = Faults()
    ids = some_ids(store, faults)
    ask_everything(store, static, ids, faults)
    show_cards(store, faults)
    for command in commands(store, grid, out, ids):
        if keep(command):
            run_command(command, faults)
    return faults


def show_cards(store: Path, faults: Faults) -> None:
    """What a notebook shows of the runs: always something, for nothing would be a fault of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            runs = ds.load(store)
            shown = {"runs": runs, **{each.id: each for each in runs[:_SOME_RUNS]}}
        except DynascopeError:
            return
        for name, each in shown.items():
            if each._repr_html_() is None:
                faults.append(f"the card of {name} is not there")


def some_ids(store: Path, faults: Faults) -> list[str]:
    """A few of the runs that can be opened."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ids = ds.load(store).ids
            return list(dict.fromkeys([*ids[:1], *ids[-1:]]))[:_SOME_RUNS]
        except DynascopeError:
            return []
        except Exception as error:
            faults.append(f"load: {_last_lines(error)}")
            return []

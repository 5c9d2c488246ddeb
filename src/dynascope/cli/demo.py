"""`dynascope demo`: twenty seeds of the default, what happened in them, and one to look at.

Whatever is shown must be in a store: in the folder of --out, or in a temporary one that is removed
however the command ends (unless it is killed).
"""

import shutil
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dynascope.cli.interrupt import CtrlC, ends_raised
from dynascope.cli.show import leave, serve
from dynascope.cli.train_and_save import Outcome, Watch, train_and_save
from dynascope.config import Config
from dynascope.engine import train
from dynascope.errors import DynascopeError
from dynascope.findings.kind import RunRow
from dynascope.printing import print
from dynascope.run import SOLVED_ACCURACY, Runs
from dynascope.run_size import weight_count

ABOUT = """\
Train 20 seeds of the default and print how each of them ended: its circuit, the
epochs at which its loss dropped, its loss spikes. Then show the one with the
richest story in the browser, until Ctrl-C."""
EXAMPLES = """\
examples:
  dynascope demo
  dynascope demo --no-show
  dynascope demo --out runs/demo --no-open
"""
_SEEDS = 20
_NEXT = """
Next:
  dynascope train --seeds 100 --out runs/first    more of them, kept
  dynascope report runs/first                     what happened in them
  dynascope show runs/first                       the same in the browser
  dynascope train --help                          other models, tasks, starts
  python -i -c "import dynascope as ds"           runs = ds.load("runs/first")"""


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--out", metavar="FOLDER", help="keep the runs in a new folder (default: keep nothing)"
    )
    parser.add_argument(
        "--no-show", action="store_true", help="stop after the table, without the browser"
    )
    parser.add_argument(
        "--no-open", action="store_true", help="print the address, but do not open the browser"
    )


def run(options: Namespace) -> int:
    """Train, look at the runs, print the table, say what to try next, show the best."""
    missing = "" if options.no_show else _missing()
    out = None if options.out is None else _new(options.out)
    ended = True
    with _store(out, needed=not (options.no_show or missing)) as folder:
        rows = _told(options, folder)
        if missing:
            print("", f"The sandbox is not available: {missing}")
        elif folder and not options.no_show:
            ended = _show(options, folder, rows)
    return leave(ended)


def _told(options: Namespace, folder: Path | None) -> list[RunRow]:
    """Everything but the sandbox; returns a row for each run."""
    from dynascope.cli.report_table import wrapped
    from dynascope.cli.run_table import stdout

    config, console = Config(), stdout()
    task = config.task
    console.print(
        f"{_SEEDS} transformers of {weight_count(config)} weights learn to add "
        f"{len(task.positions)} of {task.length} tokens modulo {task.vocab}.\n"
        "Only the seed differs.\n"
    )
    outcome = train_and_save(
        lambda watch: train(config, _SEEDS, progress=watch),
        None if folder is None else lambda runs: runs.save(folder),
    )
    if not len(outcome.runs):
        _print_saved(options, outcome)
        raise KeyboardInterrupt
    rows = [] if outcome.stopped or outcome.trouble else _analysed(_stored(outcome.runs, folder))
    _print_runs(outcome, rows)
    _print_saved(options, outcome)
    if outcome.trouble:
        raise _NotSavedError(outcome.trouble)
    if outcome.stopped:
        raise KeyboardInterrupt
    for line in _in_words(rows):
        console.print(wrapped(line, console))
    console.print(_NEXT)
    return rows


def _print_saved(options: Namespace, outcome: Outcome) -> None:
    from dynascope.cli.run_table import stdout

    count, parts = len(outcome.runs), len(outcome.partial)
    if options.out is None or outcome.trouble or not count + parts:
        return
    stopped = f", {parts} of them only up to where they were stopped" if parts else ""
    stdout().print(f"Saved {count + parts} runs to {options.out}{stopped}.", soft_wrap=True)


def _print_runs(outcome: Outcome, rows: list[RunRow]) -> None:
    """The table, and how many solved the task."""
    from dynascope.cli.run_table import Further, print_table, stdout
    from dynascope.findings.registry import kinds

    console = stdout()
    columns = [kind.brief for kind in kinds().values() if kind.brief]
    further = [Further(c.name, [c.cell(row) for row in rows], c.right) for c in columns]
    print_table(outcome.runs, console, further if rows else None)
    console.print(
        f"\n{outcome.runs.solved()} of {len(outcome.runs)} solved the task (test accuracy above "
        f"{SOLVED_ACCURACY}) in {outcome.seconds:.1f} seconds."
    )


def _analysed(runs: Runs) -> list[RunRow]:
    """All analyses of each run, as rows. Of stored runs they are kept, for the sandbox's table."""
    from dynascope.progress import Bar

    with CtrlC() as ctrl_c:
        found = runs.analyse(progress=Watch(ctrl_c, Bar())).to_pylist()
    return [{**run.summary(), **row} for run, row in zip(runs, found, strict=True)]


def _in_words(rows: list[RunRow]) -> Iterator[str]:
    """What was found, for somebody who sees it for the first time."""
    from dynascope.findings.registry import kinds

    for kind in kinds().values() if rows else ():
        yield from kind.introduction(kind.totals(rows))


# ---- the store ----------------------------------------------------------------------------------


class _NotSavedError(DynascopeError):
    """Runs that are not where they should be."""

    code = 1  # not the user's mistake


def _new(folder: str) -> Path:
    from dynascope.store.files import check_new

    return check_new(folder)


def _stored(runs: Runs, folder: Path | None) -> Runs:
    """The runs as the store has them, if there is one."""
    from dynascope.store import load

    return load(folder) if folder else runs


@contextmanager
def _store(out: Path | None, needed: bool) -> Iterator[Path | None]:
    """Where the runs go: the folder that was asked for, or for as long as this takes another."""
    if out or not needed:
        yield out
        return
    with ends_raised():
        above = tempfile.mkdtemp(prefix="dynascope-")
        try:
            yield Path(above, "demo")
        finally:
            with CtrlC():  # a second one must not leave half of it
                shutil.rmtree(above, ignore_errors=True)


# ---- the sandbox --------------------------------------------------------------------------------


def _missing() -> str:
    """Why the sandbox cannot be shown, if so."""
    from dynascope.sandbox import client

    try:
        client.check_built(client.FOLDER)
    except DynascopeError as error:
        return str(error)
    return ""


def _show(options: Namespace, folder: Path, rows: list[RunRow]) -> bool:
    """Serve the runs until Ctrl-C; whether all that was being computed has ended."""
    from dynascope.sandbox.server import Sandbox
    from dynascope.sandbox.store_answers import Shown

    best = max(rows, key=_richness)
    print("", _why(best))
    if options.out is None:
        print("The runs are in a temporary folder, removed at the end; use --out to keep them.")
    return serve(Sandbox(folder, shown=Shown(best["id"])), options)


def _richness(row: RunRow) -> tuple[int, ...]:
    """Solved, and then how much there is to see: phases before spikes."""
    from dynascope.findings.registry import kinds
    from dynascope.findings.words import is_solved

    return is_solved(row), *(kind.story(row)[0] for kind in kinds().values())


def _why(row: RunRow) -> str:
    """Why this run is the one to look at.

    >>> _why({"seed": 3, "accuracy": 0.97, "drop_epochs": [120, 410], "spikes": 1})
    'Seed 3 has the richest story: solved, 2 drops of the loss, 1 loss spike.'
    """
    from dynascope.findings.registry import kinds
    from dynascope.findings.words import is_solved

    told = ["solved" if is_solved(row) else "unsolved"]
    told += [story for kind in kinds().values() if (story := kind.story(row)[1])]
    return f"Seed {row['seed']} has the richest story: {', '.join(told)}."

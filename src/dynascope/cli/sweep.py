"""`dynascope sweep`: a grid of runs, resumed, extended, spread over a cluster."""

import sys
import time
from argparse import ArgumentParser, Namespace
from importlib.resources import files
from typing import TYPE_CHECKING

from dynascope.cli.amounts import disk_space
from dynascope.cli.arguments import add_workers
from dynascope.errors import DynascopeError
from dynascope.findings.words import many
from dynascope.number_text import percent
from dynascope.printing import print

if TYPE_CHECKING:
    from dynascope.sweeps.execution import Execution
    from dynascope.sweeps.grid import Grid
    from dynascope.sweeps.status import Overview

ABOUT = """\
Train every run of a grid: a base config, values to combine, seeds, and further
stages that fine-tune the runs of earlier ones. After a crash, a full disk or
Ctrl-C, run the same command again: it computes only what is missing. A grid
with more values or seeds extends the folder."""

EXAMPLES = """\
A grid is a TOML file; --example prints one with comments.

examples:
  dynascope sweep --example > grid.toml
  dynascope sweep grid.toml --out runs/grid --dry-run
  dynascope sweep grid.toml --out runs/grid
  dynascope sweep --status runs/grid
  dynascope sweep grid.toml --out runs/grid --ray auto
  dynascope sweep --slurm > job.sh; sbatch --nodes 4 job.sh grid.toml runs/grid
"""


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("grid", metavar="GRID", nargs="?", help="a TOML file")
    parser.add_argument(
        "--out", metavar="FOLDER", help="where to save the runs, or where to resume"
    )
    parser.add_argument("--strict", action="store_true", help="treat damaged files as an error")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    instead = parser.add_argument_group("instead of training")
    instead.add_argument(
        "--dry-run", action="store_true", help="count the runs and estimate time and disk space"
    )
    instead.add_argument("--status", metavar="FOLDER", help="show the progress of a folder's sweep")
    instead.add_argument("--example", action="store_true", help="print a grid to start from")
    instead.add_argument(
        "--slurm", action="store_true", help="print a batch script that starts Ray under SLURM"
    )
    how = parser.add_argument_group("how")
    add_workers(how)
    how.add_argument(
        "--results",
        metavar="HOW",
        help="how runs come back from Ray: object, through its object store and this process "
        "(default), or shared: workers write to FOLDER, which all nodes must see",
    )
    how.add_argument(
        "--shard-seconds",
        metavar="S",
        type=_seconds,
        help="how much computing a crash may cost (default: 2 to 60, chosen for the sweep)",
    )
    how.add_argument("--wait", action="store_true", help="wait for another sweep of FOLDER to end")


def run(options: Namespace) -> int:
    """Do one of the things that can be asked for."""
    instead = ("example", "slurm", "status", "dry_run")
    asked_for = [f"--{name.replace('_', '-')}" for name in instead if getattr(options, name)]
    if len(asked_for) > 1:
        raise DynascopeError(f"{asked_for[1]}: cannot be combined with {asked_for[0]}.")
    for asked, name in ((options.example, "grid.toml"), (options.slurm, "slurm.sh")):
        if asked:
            text = (files("dynascope.sweeps") / name).read_text(encoding="utf-8")
            print(*text.splitlines())
            return 0
    if options.status is not None:
        return _print_status(options.status)
    if options.grid is None:
        raise DynascopeError("GRID: expected a TOML file; see dynascope sweep --help.")
    from dynascope.store.files import path_of
    from dynascope.sweeps.driver import check_place
    from dynascope.sweeps.grid import read_grid

    grid = read_grid(options.grid)
    if options.out is None and not options.dry_run:
        raise DynascopeError("--out: expected a folder for the runs; see dynascope sweep --help.")
    if options.out is not None:
        check_place(path_of(options.out))
    if options.dry_run:
        return _print_plan(grid, options)
    return _carry_out(grid, options)


def _execution(options: Namespace) -> "Execution":
    from dynascope.sweeps.execution import Execution
    from dynascope.sweeps.sweep_function import check_execution

    if options.ray is None and options.results is not None:
        raise DynascopeError("--results: only applies with --ray.")
    if options.ray is not None and options.threads is not None:
        raise DynascopeError(
            "--threads: cannot be combined with --ray, where each shard takes one core."
        )
    results = options.results or "object"
    execution = Execution(
        options.threads, options.ray, results, options.shard_seconds, options.wait, options.strict
    )
    return check_execution(execution)


def _carry_out(grid: "Grid", options: Namespace) -> int:
    from dynascope.cli.interrupt import CtrlC
    from dynascope.cli.train_and_save import Watch
    from dynascope.progress import Bar, Lines
    from dynascope.store.files import path_of
    from dynascope.sweeps.driver import carry_out

    execution = _execution(options)
    began = time.perf_counter()
    if execution.ray is not None and not options.quiet:
        back = "Ray's object store" if execution.results == "object" else "the shared folder"
        print(f"Ray ({execution.ray}): runs come back through {back}.", file=sys.stderr)
    bar = None if options.quiet else Bar() if sys.stderr.isatty() else Lines()
    with CtrlC() as ctrl_c:
        try:
            new = carry_out(grid, path_of(options.out), execution, Watch(ctrl_c, bar), ctrl_c.check)
            stopped = ""
        except KeyboardInterrupt:
            new, stopped = 0, "stopped"
        except MemoryError:
            new, stopped = 0, "memory ran out"
    return _report(options, new, stopped, time.perf_counter() - began)


def _report(options: Namespace, new: int, stopped: str, seconds: float) -> int:
    from dynascope.cli.run_table import duration
    from dynascope.sweeps.status import overview

    if stopped:
        try:
            found = overview(options.out)
            done = f"{found.done} of {found.runs} runs are in {options.out}; "
            done += "run the same command to resume"
        except DynascopeError:  # it waited, and had not begun
            done = "nothing was started"
        print(f"dynascope: {stopped}; {done}.", file=sys.stderr)
        return 1
    if options.quiet:
        return 0
    found = overview(options.out)
    was = f", {found.done - new} of them from before" if new < found.done else ""
    print(f"{found.done} runs are in {options.out}{was}; this took {duration(seconds)}.")
    _print_impossible(found)
    if found.analyse:
        print(f"Next: dynascope report {options.out}")
    print(f'Next: dynascope query {options.out} "{_question(found)}"')
    return 0


def _question(found: "Overview") -> str:
    """A first question that fits the sweep: success by what varies."""
    from dynascope.run import SOLVED_ACCURACY

    by = "".join(f"{name}, " for name in found.varying[:3])
    counts = f"count(*) FILTER (accuracy > {SOLVED_ACCURACY}) AS solved, count(*) AS runs"
    return f"SELECT {by}{counts} FROM runs GROUP BY ALL ORDER BY ALL"


def _print_plan(grid: "Grid", options: Namespace) -> int:
    from dynascope.progress import clock
    from dynascope.store.files import path_of
    from dynascope.sweeps.estimate import free_space, plan_estimate

    _execution(options)
    folder = None if options.out is None else path_of(options.out)
    stages, found = plan_estimate(grid, folder, options.threads)
    runs, configs = sum(each.runs for each in stages), sum(each.configs for each in stages)
    print(f"{many(runs, 'run')} of {many(configs, 'config')}")
    for each in stages if len(stages) > 1 else ():
        already = f", {each.there} of them there already" if each.there else ""
        print(f"  {each.name}: {many(each.runs, 'run')} of {many(each.configs, 'config')}{already}")
    if there := sum(each.there for each in stages):
        print(f"{there} of them are in {options.out} already; {many(found.runs, 'run')} to train")
    if found.runs:
        on = many(found.threads, "thread")
        print(f"expected time: {clock(found.seconds)} on {on} of this machine")
        free = "" if folder is None else f" ({disk_space(free_space(folder))} free)"
        print(f"expected disk: {disk_space(found.disk)}{free}")
    if grid.analyse:
        print(f"each run is analysed ({', '.join(grid.analyse)}); that is roughly part of the time")
    return 0


def _print_status(folder: str) -> int:
    from dynascope.engine import count_threads
    from dynascope.progress import clock
    from dynascope.sweeps.status import overview

    found = overview(folder)
    print(
        f"{folder}: {found.done} of {many(found.runs, 'run')} done "
        f"({percent(found.share, places=0)}), {disk_space(found.disk)}"
    )
    for stage in found.stages if len(found.stages) > 1 else ():
        print(f"  {stage.name}: {stage.done} of {stage.runs}")
    _print_impossible(found)
    if found.deleted:
        print(f"{found.deleted} of them are deleted")
    if found.damage:
        print(f"{len(found.damage)} files are damaged; the sweep computes their runs again")
    if found.holder:
        print(f"at work: {found.holder}")
    if found.left and found.core_seconds is not None:
        threads = count_threads(None, found.left)
        time_left = clock(found.core_seconds / threads)
        print(f"left: {many(found.left, 'run')}, about {time_left} on {many(threads, 'thread')}")
    if found.analyse:
        kinds, done = ", ".join(found.analyse), found.done - found.lacking
        print(f"analysed ({kinds}): {done} of {many(found.done, 'run')}")
    if (found.left or found.lacking) and not found.holder:
        print("run the same `dynascope sweep` command for the rest")
    return 0


def _print_impossible(found: "Overview") -> None:
    lost = sum(stage.impossible for stage in found.stages)
    if lost:
        print(f"{lost} could not be continued: the runs that they start from diverged")


def _seconds(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text  # said to be wrong where it is used

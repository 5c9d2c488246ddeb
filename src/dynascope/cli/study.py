"""`dynascope study`: every claim of the paper, counted; resumed, estimated, timed."""

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING

from dynascope.cli.arguments import add_workers
from dynascope.errors import DynascopeError
from dynascope.findings.words import many
from dynascope.printing import print

if TYPE_CHECKING:
    from dynascope.cli.train_and_save import Watch
    from dynascope.studies.results import StudyResults
    from dynascope.studies.sources import StudySource
    from dynascope.studies.study_folder import StudyFolder
    from dynascope.sweeps.execution import Execution

ABOUT = """\
Check the paper's claims: train the runs that a study needs, count, and write a
report with a verdict for each claim: holds, holds in part, does not hold, or not
decidable here. After a crash, a full disk or Ctrl-C, run the same command again:
it computes only what is missing."""

EXAMPLES = """\
--scale quick takes minutes: a rehearsal, with fewer seeds. --scale paper takes
hours, and is the one to quote. FOLDER holds report.html, which opens by a double
click, claims.json, the figures with their data, and the runs.

examples:
  dynascope study --list
  dynascope study two-phase
  dynascope study all --scale paper --dry-run
  dynascope study all --scale paper --out studies
  dynascope show studies
  dynascope study --timings studies
"""


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("names", metavar="NAME", nargs="*", help="studies, or all")
    parser.add_argument(
        "--scale", metavar="SCALE", default="quick", help="quick (default) or paper"
    )
    parser.add_argument(
        "--out", metavar="FOLDER", help="where to save, or to resume (default: study-NAME-SCALE)"
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    instead = parser.add_argument_group("instead of training")
    instead.add_argument("--list", action="store_true", help="list the studies")
    instead.add_argument(
        "--dry-run", action="store_true", help="count the runs and estimate time and disk space"
    )
    instead.add_argument(
        "--timings", metavar="FOLDER", help="show how long a folder's runs took so far"
    )
    how = parser.add_argument_group("how")
    add_workers(how)
    how.add_argument("--wait", action="store_true", help="wait for another study of FOLDER to end")


def run(options: Namespace) -> int:
    """Do one of the things that can be asked for."""
    from dynascope.cli.study_tables import print_list, print_plan, print_timings

    instead = {"--list": options.list, "--dry-run": options.dry_run, "--timings": options.timings}
    asked_for = [name for name, value in instead.items() if value]
    if len(asked_for) > 1:
        raise DynascopeError(f"{asked_for[1]}: cannot be combined with {asked_for[0]}.")
    if options.timings is not None:
        print_timings(options.timings)
        return 0
    if options.list:
        print_list()
        return 0
    folder, execution = _folder(options), _execution(options)
    if options.dry_run:
        print_plan(folder, options.threads)
        return 0
    return _carry_out(folder, execution, options.quiet)


def _folder(options: Namespace) -> "StudyFolder":
    from dynascope.option_rules import Choice
    from dynascope.store.files import path_of
    from dynascope.studies.catalogue import check_studies
    from dynascope.studies.sources import SCALES
    from dynascope.studies.study_folder import StudyFolder
    from dynascope.studies.study_function import default_folder

    if not options.names:
        raise DynascopeError("NAME: expected a study, or all; see dynascope study --list.")
    names = check_studies(options.names)
    Choice(SCALES).check("--scale", options.scale)
    out = default_folder(names, options.scale) if options.out is None else options.out
    folder = StudyFolder(path_of(out), names, options.scale)
    folder.read()  # refuses what is not ours
    return folder


def _execution(options: Namespace) -> "Execution":
    from dynascope.sweeps.execution import Execution
    from dynascope.sweeps.sweep_function import check_execution

    if options.ray is not None and options.threads is not None:
        raise DynascopeError(
            "--threads: cannot be combined with --ray, where each shard takes one core."
        )
    return check_execution(Execution(threads=options.threads, ray=options.ray, wait=options.wait))


def _carry_out(folder: "StudyFolder", execution: "Execution", quiet: bool) -> int:
    from dynascope.cli.interrupt import CtrlC
    from dynascope.cli.train_and_save import Watch
    from dynascope.progress import Bar, Lines
    from dynascope.studies.study_function import carry_out_studies

    began = time.perf_counter()
    bar = None if quiet else Bar() if sys.stderr.isatty() else Lines()
    with CtrlC() as ctrl_c:
        watch = _announced(folder, Watch(ctrl_c, bar), quiet)
        try:
            results = carry_out_studies(folder, execution, watch, ctrl_c.check)
        except KeyboardInterrupt:
            return _stopped("stopped", folder)
        except MemoryError:
            return _stopped("memory ran out", folder)
    if not quiet:
        _report(results, folder, time.perf_counter() - began)
    return 0


def _announced(
    folder: "StudyFolder", watch: "Watch", quiet: bool
) -> "Callable[[StudySource], Watch]":
    """Says which source comes next, and then watches it."""
    from dynascope.studies.catalogue import study_of
    from dynascope.studies.planning import runs_of
    from dynascope.studies.study_function import sources_of

    sources = list(sources_of([study_of(name) for name in folder.studies]))
    places = {source.name: place for place, source in enumerate(sources, 1)}

    def begin(source: "StudySource") -> "Watch":
        runs = runs_of(source, folder.scale)
        if not quiet and runs:
            where = f"{places[source.name]} of {len(sources)}"
            print(f"{source.name}: {many(runs, 'run')}, {where}", file=sys.stderr, flush=True)
        return watch

    return begin


def _stopped(why: str, folder: "StudyFolder") -> int:
    done = f"what is done is in {folder.path}; run the same command to resume"
    print(f"dynascope: {why}; {done}.", file=sys.stderr)
    return 1


def _report(results: "StudyResults", folder: "StudyFolder", seconds: float) -> None:
    from dynascope.cli.run_table import duration
    from dynascope.cli.study_tables import print_timings
    from dynascope.studies.catalogue import ALL, NAMES
    from dynascope.studies.claims import VERDICTS
    from dynascope.studies.report_words import of_many
    from dynascope.studies.sources import QUICK
    from dynascope.studies.study_folder import REPORT

    found = [each.verdict for result in results for each in result.judgements]
    told = ", ".join(f"{found.count(each)} {of_many(each)}" for each in VERDICTS if each in found)
    print(f"{many(len(found), 'claim')}: {told or 'none'}; this took {duration(seconds)}.")
    print_timings(str(folder.path))
    print(f"The report is {folder.path / REPORT}; open it in a browser.")
    print(f"Next: dynascope show {folder.path}")
    if folder.scale == QUICK:
        names = ALL if folder.studies == NAMES else " ".join(folder.studies)
        print(f"Next: dynascope study {names} --scale paper --dry-run")

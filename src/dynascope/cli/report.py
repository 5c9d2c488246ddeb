"""`dynascope report`: what happened in runs, as a table of many or one of them in detail."""

import json
import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from dynascope.analysis_columns import DECLARATIONS, DEFAULT_KINDS, KINDS, check_kinds
from dynascope.cli.address import parse, resolve_many
from dynascope.cli.arguments import number
from dynascope.errors import DynascopeError
from dynascope.glossary import listing
from dynascope.plain import plain
from dynascope.printing import print

if TYPE_CHECKING:
    import pyarrow

    from dynascope.run import Run
    from dynascope.store.stored import StoredRuns

ABOUT = """\
Report what happened in runs: which circuit each has become (and how clearly),
in which phases it learnt, and what caused its loss spikes. The results are
saved next to the runs, so the next report is immediate, and `dynascope query`
has them as columns."""

# What a report cannot be read without.
_WORDS = (
    *("multiset", "irrelevant", "ideal", "value-corrected", "partial", "fuzzy", "unsolved"),
    *("verdict.margin", "clusters", "culprits", "drops", "lead", "spike"),
    *("cause.optimizer", "cause.normalisation", "cause.feed-forward", "cause.other"),
)

EXAMPLES = """\
RUN is FOLDER#ID (the beginning of an id is enough) or FOLDER#seed=3; RUN@250
reports the circuit at epoch 250.

examples:
  dynascope report runs/first
  dynascope report runs/first --where "accuracy > 0.9" --kinds circuit
  dynascope report runs/first --kinds sparsity,attention
  dynascope report runs/first#seed=15
  dynascope report runs/first#seed=15@80 --theory
  dynascope report runs/first --json > report.json
  dynascope query runs/first "SELECT verdict, count(*) FROM runs GROUP BY 1"

words (docs/glossary.md has all of them):
""" + listing(_WORDS)


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("runs", metavar="FOLDER", help="a folder of runs, or RUN for one in detail")
    parser.add_argument(
        "--run", metavar="ID", dest="one", help="one run in detail; the same as FOLDER#ID"
    )
    parser.add_argument("--where", metavar="SQL", help="only runs that match this condition")
    parser.add_argument(
        "--kinds",
        metavar="NAMES",
        default=",".join(DEFAULT_KINDS),
        help=f"analyses, separated by commas (default: {','.join(DEFAULT_KINDS)}); also "
        f"{', '.join(kind for kind in KINDS if kind not in DEFAULT_KINDS)}, or all",
    )
    parser.add_argument(
        "--theory",
        action="store_true",
        help="for one run: also its distance from a stationary point, bounds on its gradient, the "
        "exact curvature, and whether its plateaus are saddles",
    )
    parser.add_argument("--json", action="store_true", help="everything, as one JSON document")
    parser.add_argument("--threads", metavar="N", type=number, help="(default: one for each core)")


def run(options: Namespace) -> int:
    """One run in detail, or a table of many."""
    kinds = check_kinds([name.strip() for name in options.kinds.split(",")], "--kinds")
    address = parse(options.runs)
    if options.one is not None and (address.which is not None or address.epoch is not None):
        raise DynascopeError(f"--run: cannot be combined with {options.runs}, which names a run.")
    named = options.runs if options.one is None else f"{options.runs}#{options.one}"
    if options.one is not None or address.which is not None or address.epoch is not None:
        return _print_one(named, kinds, options)
    runs = resolve_many(options.runs)
    if options.theory and len(runs) != 1:
        raise DynascopeError(
            f"--theory: expected a single run, but got {len(runs)}; name one with --run."
        )
    if options.theory:
        return _print_one(f"{options.runs}#{runs[0].id}", kinds, options)
    return _print_many(runs, kinds, options)


def _print_one(address: str, kinds: tuple[str, ...], options: Namespace) -> int:
    from dynascope.cli.address import resolve
    from dynascope.cli.report_run import RunReport
    from dynascope.progress import Bar

    if options.where is not None:
        raise DynascopeError("--where: cannot be combined with a single run.")
    run, epoch = resolve(address)
    run = run.loaded()
    report = RunReport.of(run, epoch, kinds, Bar())
    if options.json:
        told = report.to_dict() | _theory_dict(run, report.epoch, options)
        print(*json.dumps(told, indent=1, allow_nan=False).splitlines())
        return 0
    report.print()
    if options.theory:
        from dynascope.cli.report_theory import print_theory  # SciPy, and much of the theory

        print_theory(run, report.epoch, options.threads)
    return 0


def _theory_dict(run: "Run", epoch: int, options: Namespace) -> dict[str, Any]:
    if not options.theory:
        return {}
    from dynascope.cli.report_theory import Theory

    return {"theory": Theory.of(run, epoch, options.threads).to_dict()}


def _print_many(runs: "StoredRuns", kinds: tuple[str, ...], options: Namespace) -> int:
    from dynascope.cli.report_table import print_report
    from dynascope.cli.report_totals import totals

    try:
        rows = _analysed(runs, kinds, options)
        if not rows:
            raise DynascopeError(f"{runs.folder}: expected runs to report, but none can be read.")
    except KeyboardInterrupt:
        told = "results so far are saved; run the same command to resume"
        print(f"dynascope: stopped; {told}.", file=sys.stderr)
        return 1
    if options.json:
        whole = {"folder": str(runs.folder), "totals": totals(rows, kinds), "runs": rows}
        print(*json.dumps(whole, indent=1, allow_nan=False).splitlines())
    else:
        print_report(rows, kinds)
    return 0


def _analysed(
    runs: "StoredRuns", kinds: tuple[str, ...], options: Namespace
) -> list[dict[str, Any]]:
    """A row for each run that is wanted: what varies, how it ended, what was found."""
    from dynascope.cli.interrupt import CtrlC
    from dynascope.cli.report_totals import SUMMARY
    from dynascope.cli.train_and_save import Watch
    from dynascope.progress import Bar

    with CtrlC() as ctrl_c:

        def analyse(runs: "StoredRuns", kinds: tuple[str, ...]) -> "pyarrow.Table":
            return runs.analyse(kinds, options.threads, Watch(ctrl_c, Bar()))

        if options.where is not None:
            asked = _kinds_in(options.where, kinds)
            if asked:  # what is not known yet would hold for no run
                analyse(runs, asked)
            runs = _chosen(runs, options.where)
        found = analyse(runs, kinds)
    rest = runs.table([*SUMMARY, *_varying(runs)])
    ended = {row["id"]: row for row in rest.to_pylist()}
    # A run whose other columns prove damaged has been named, and is left out here as well.
    return [plain(ended[row["id"]] | row) for row in found.to_pylist() if row["id"] in ended]


def _kinds_in(condition: str, kinds: tuple[str, ...]) -> tuple[str, ...]:
    """The analyses that a condition asks about; a note is about those that are reported."""
    from dynascope.store.query import columns_in

    names = {*columns_in(condition)}
    noted = kinds if "analysis_note" in names else ()
    return tuple(
        kind for kind in KINDS if kind in noted or not names.isdisjoint(DECLARATIONS[kind].columns)
    )


def _chosen(runs: "StoredRuns", condition: str) -> "StoredRuns":
    chosen = runs.where(condition)
    if not len(chosen):
        raise DynascopeError(f"--where: no run matches {condition}.")
    return chosen


def _varying(runs: "StoredRuns") -> list[str]:
    """The options in which the runs differ, as columns; recording makes no difference."""
    from dynascope.store.schema import CONFIG

    names = [field.name for name, field in CONFIG.items() if not name.startswith("record.")]
    table = runs.table(names)
    return [name for name in names if len({str(value) for value in table[name].to_pylist()}) > 1]

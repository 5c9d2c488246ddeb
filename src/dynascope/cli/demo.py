"""`dynascope demo`: twenty seeds of the default, what became of them, and what happened in them."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any

from dynascope.cli.job import carry_out
from dynascope.config import Config
from dynascope.engine import train
from dynascope.run import SOLVED_ACCURACY, Runs
from dynascope.tape import weight_count

ABOUT = """\
Train 20 seeds of the default and print how each of them ended: its circuit, the
epochs at which its loss dropped, its loss spikes."""
EXAMPLES = ""
_SEEDS = 20
_NEXT = """
Next:
  dynascope train --seeds 100 --out runs/first    more of them, kept
  dynascope report runs/first                     what happened in them
  dynascope train --help                          other models, tasks, starts
  python -i -c "import dynascope as ds"           runs = ds.load("runs/first")"""


def add_options(parser: ArgumentParser) -> None:
    """There are none."""


def run(options: Namespace) -> int:
    """Train, look at the runs, print the table, say what to try next."""
    from dynascope.cli.report_table import drops, legend, spikes, wrapped
    from dynascope.cli.table import print_table, stdout

    config, console = Config(), stdout()
    task = config.task
    console.print(
        f"{_SEEDS} transformers of {weight_count(config)} weights learn to add "
        f"{len(task.positions)} of {task.length} tokens modulo {task.vocab}.\n"
        "Only the seed differs.\n"
    )
    outcome = carry_out(lambda watch: train(config, _SEEDS, progress=watch))
    if not len(outcome.runs):
        raise KeyboardInterrupt
    rows = [] if outcome.stopped else _analysed(outcome.runs)
    further = {
        "circuit": [row["verdict"] or "-" for row in rows],
        "drops at": [drops(row, most=2) for row in rows],
        "spikes": [spikes(row) for row in rows],
    }
    print_table(outcome.runs, console, further if rows else None)
    if told := legend(rows, most=2):
        console.print(wrapped(told, console))
    solved, runs = outcome.runs.solved(), len(outcome.runs)
    console.print(
        f"\n{solved} of {runs} solved the task (test accuracy above {SOLVED_ACCURACY}) "
        f"in {outcome.seconds:.1f} seconds."
    )
    if outcome.stopped:
        raise KeyboardInterrupt
    for line in _in_words(rows):
        console.print(wrapped(line, console))
    console.print(_NEXT)
    return 0


def _analysed(runs: Runs) -> list[dict[str, Any]]:
    """All analyses of each run, as rows."""
    from dynascope.analysis.rows import analyse, in_threads
    from dynascope.cli.interrupt import CtrlC
    from dynascope.cli.job import Watch
    from dynascope.progress import Bar

    rows: list[dict[str, Any]] = [dict(run.summary()) for run in runs]

    def work(i: int) -> None:
        rows[i] |= analyse(runs[i])

    with CtrlC() as ctrl_c:
        in_threads(work, [run.epochs for run in runs], report=Watch(ctrl_c, Bar()))
    return rows


def _in_words(rows: list[dict[str, Any]]) -> Iterator[str]:
    """What was found, for somebody who sees it for the first time."""
    from dynascope.analysis.rows import KINDS
    from dynascope.cli.report_table import counted
    from dynascope.cli.report_totals import totals

    found = totals(rows, KINDS)
    circuits, phases, spikes = (found[kind] for kind in KINDS)
    if circuits["solved"]:
        yield f"Their circuits: {counted(circuits['solved'])}."
    if circuits["other_sum"]:
        yield (
            f"{circuits['other_sum']} of them compute another sum that is the same modulo 2, such "
            "as one with a minus sign: `dynascope report` tells which."
        )
    first = phases["clustered_first"]
    if first["of"]:
        yield (
            f"In {first['count']} of the {first['of']} runs in which both rose, sequence "
            "embeddings clustered by the tokens that count before the accuracy rose."
        )
    if spikes["spikes"]:
        yield (
            f"{spikes['runs_with']} runs had loss spikes, {spikes['spikes']} in all; their causes: "
            f"{counted(spikes['causes'])}."
        )

"""`dynascope demo`: twenty seeds of the default, and what became of them."""

from argparse import ArgumentParser, Namespace

from dynascope.cli.job import carry_out
from dynascope.config import Config
from dynascope.engine import train
from dynascope.run import SOLVED_ACCURACY
from dynascope.tape import weight_count

ABOUT = "Train 20 seeds of the default and print how each of them ended."
EXAMPLES = ""
_SEEDS = 20
_NEXT = """
Next:
  dynascope train --seeds 100 --out runs/first    more of them, kept
  dynascope train --help                          other models, tasks, starts
  python -i -c "import dynascope as ds"           runs = ds.load("runs/first")"""


def add_options(parser: ArgumentParser) -> None:
    """There are none."""


def run(options: Namespace) -> int:
    """Train, print the table, say what to try next."""
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
    print_table(outcome.runs, console)
    solved, runs = outcome.runs.solved(), len(outcome.runs)
    console.print(
        f"\n{solved} of {runs} solved the task (test accuracy above {SOLVED_ACCURACY}) "
        f"in {outcome.seconds:.1f} seconds."
    )
    if outcome.stopped:
        raise KeyboardInterrupt
    console.print(_NEXT)
    return 0

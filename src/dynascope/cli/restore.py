"""`dynascope restore`: deleted runs back."""

from argparse import ArgumentParser, Namespace

from dynascope.cli.run_selection import RUNS, add_runs, chosen, count
from dynascope.printing import print

ABOUT = f"Bring deleted runs back.\n\n{RUNS}"
EXAMPLES = """\
examples:
  dynascope restore runs/grid --all
"""


def add_options(parser: ArgumentParser) -> None:
    add_runs(parser)


def run(options: Namespace) -> int:
    runs = chosen(options, deleted=True)
    runs.restore()
    print(f"Restored {count(runs)}.")
    return 0

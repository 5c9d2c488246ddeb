"""`dynascope delete`: runs out of sight."""

from argparse import ArgumentParser, Namespace

from dynascope.cli.run_selection import RUNS, add_runs, chosen, count
from dynascope.printing import print

ABOUT = f"""\
Hide runs from everything that reads the folder; a sweep does not compute them
again. `dynascope restore` brings them back.

{RUNS}"""
EXAMPLES = """\
examples:
  dynascope delete runs/grid --where "diverged IS NOT NULL"
  dynascope delete runs/first#seed=3
  python -c "import dynascope as ds; ds.load('runs/grid').save('runs/smaller')"
      frees their disk space: a new folder without them
"""


def add_options(parser: ArgumentParser) -> None:
    add_runs(parser)


def run(options: Namespace) -> int:
    runs = chosen(options)
    runs.delete()
    print(f"Deleted {count(runs)}; `dynascope restore` brings them back.")
    return 0

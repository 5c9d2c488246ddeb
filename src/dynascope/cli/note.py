"""`dynascope note`: a sentence about runs."""

from argparse import ArgumentParser, Namespace

from dynascope.cli.run_selection import RUNS, add_runs, chosen, count
from dynascope.printing import print

ABOUT = f"Write a note about runs. It replaces any earlier note.\n\n{RUNS}"
EXAMPLES = """\
examples:
  dynascope note runs/first#seed=15 "two spikes, then five clusters"
  dynascope query runs/first "SELECT seed, note FROM runs WHERE note IS NOT NULL"
"""


def add_options(parser: ArgumentParser) -> None:
    add_runs(parser)
    parser.add_argument("text", metavar="TEXT", help="the note; an empty text removes it")


def run(options: Namespace) -> int:
    runs = chosen(options)
    runs.note(options.text)
    print(f"Noted for {count(runs)}.")
    return 0

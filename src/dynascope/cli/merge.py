"""`dynascope merge`: several folders into one."""

from argparse import ArgumentParser, Namespace

from dynascope.printing import print

ABOUT = """\
Merge the runs of several folders into a new one. Files are copied as they are.
A run that is in several folders appears once. Tags, notes and deletions are
kept."""
EXAMPLES = """\
examples:
  dynascope merge runs/monday runs/tuesday --out runs/week
"""


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("folders", metavar="FOLDER", nargs="+", help="a folder of runs")
    parser.add_argument("--out", metavar="FOLDER", required=True, help="the new folder")


def run(options: Namespace) -> int:
    from dynascope.store import load, merge

    merge(options.folders, options.out)
    print(f"{len(load(options.out))} runs are in {options.out}.")
    return 0

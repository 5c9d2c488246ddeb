"""`dynascope merge`: several folders into one."""

from argparse import ArgumentParser, Namespace

ABOUT = """\
Make one new folder with the runs of several. Files are copied as they are; a run
that several have is there once; tags, notes and deletions come along."""
EXAMPLES = """\
examples:
  dynascope merge runs/monday runs/tuesday --out runs/week
"""


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("folders", metavar="FOLDER", nargs="+", help="of runs")
    parser.add_argument("--out", metavar="FOLDER", required=True, help="the new one")


def run(options: Namespace) -> int:
    from dynascope.store import load, merge

    merge(options.folders, options.out)
    print(f"{len(load(options.out))} runs are in {options.out}.")
    return 0

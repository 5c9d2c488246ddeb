"""`dynascope tag`: names for runs."""

from argparse import ArgumentParser, Namespace

from dynascope.cli.run_selection import RUNS, add_runs, chosen, count
from dynascope.printing import print

ABOUT = f"Tag runs, so that you can find them again.\n\n{RUNS}"
EXAMPLES = """\
examples:
  dynascope tag runs/grid solved --where "accuracy > 0.9"
  dynascope query runs/grid "SELECT lr, count(*) FROM runs
      WHERE list_contains(tags, 'solved') GROUP BY lr"
  dynascope tag runs/grid#3fa9 solved --remove
"""


def add_options(parser: ArgumentParser) -> None:
    add_runs(parser)
    parser.add_argument("name", metavar="NAME", help="the tag: letters, digits and _ . : + -")
    parser.add_argument("--remove", action="store_true", help="remove the tag")


def run(options: Namespace) -> int:
    runs = chosen(options)
    if options.remove:
        runs.untag(options.name)
    else:
        runs.tag(options.name)
    print(f"{'Untagged' if options.remove else 'Tagged'} {count(runs)}.")
    return 0

"""`dynascope import`: runs that the paper's own code saved."""

from argparse import ArgumentParser, Namespace

from dynascope.printing import print

ABOUT = """\
Import runs saved by the code released with the paper (config.json and pickled
tensors). The pickles are read by our own reader, which knows only tensors,
lists and dicts; it refuses anything else, names it, and never runs it. You can
inspect, compare and fine-tune imported runs, but not replay them, since their
data and moments were not saved."""
EXAMPLES = """\
examples:
  dynascope import savings/ --out runs/paper      every run below that folder
"""


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "folders", metavar="FOLDER", nargs="+", help="a folder of one run or of many"
    )
    parser.add_argument("--out", metavar="FOLDER", required=True, help="the new folder of runs")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def run(options: Namespace) -> int:
    from dynascope.run import Runs
    from dynascope.store.authors import find_authors_runs, read_authors_run
    from dynascope.store.files import check_new

    check_new(options.out)
    found = [path for folder in options.folders for path in find_authors_runs(folder)]
    runs = Runs([read_authors_run(path) for path in dict.fromkeys(found)])
    runs.save(options.out)
    if not options.quiet:
        print(f"{len(runs)} runs are in {options.out}.")
    return 0

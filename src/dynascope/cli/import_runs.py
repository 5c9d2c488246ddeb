"""`dynascope import`: runs that the paper's own code saved."""

from argparse import ArgumentParser, Namespace

ABOUT = """\
Read runs that the code released with the paper saved (config.json beside pickled
tensors) into a folder of runs. The pickles are read by a reader of our own that
knows tensors, lists and dicts: whatever else a file asks for is refused by name
and never run. Such runs can be looked at, compared and fine-tuned, but not
replayed: their data and moments were not saved."""
EXAMPLES = """\
examples:
  dynascope import savings/ --out runs/paper      every run below that folder
"""


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("folders", metavar="FOLDER", nargs="+", help="of one run, or of many")
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

"""`dynascope check`: every byte of a folder of runs against its checksums."""

from argparse import ArgumentParser, Namespace
from contextlib import nullcontext

from dynascope.findings.words import many
from dynascope.printing import print

ABOUT = """\
Read every byte of a folder of runs and verify its checksums. Every command
verifies what it reads; this one verifies everything. The exit code is 1 if
anything is damaged."""
EXAMPLES = """\
examples:
  dynascope check runs/grid
  dynascope check runs/grid --set-aside; dynascope sweep grid.toml --out runs/grid
      computes damaged runs again
"""


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="a folder of runs")
    parser.add_argument(
        "--set-aside",
        action="store_true",
        help="move damaged shards to FOLDER/damaged",
    )


def run(options: Namespace) -> int:
    from dynascope.store.checking import check
    from dynascope.store.files import path_of
    from dynascope.store.lock import locked
    from dynascope.store.quarantine import set_aside

    path = path_of(options.folder)
    with locked(path) if options.set_aside and path.is_dir() else nullcontext():
        index = check(path)
        if options.set_aside:
            set_aside(index)
    runs, shards = many(len(index.ids), "run"), many(len(index.shards), "shard")
    whole = f"{options.folder}: {runs} in {shards}"
    if not index.damage:
        print(f"{whole}, no damage.")
        return 0
    for each in index.damage:
        print(f"{each.path}: {each.why}.")
    print(f"{whole}, {many(len(index.damage), 'file')} damaged.")
    return 1

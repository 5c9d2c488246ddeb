"""What `tag`, `note`, `delete` and `restore` share: which runs are meant."""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from dynascope.cli.address import parse, resolve_many
from dynascope.errors import DynascopeError
from dynascope.findings.words import many

if TYPE_CHECKING:
    from dynascope.store.stored import StoredRuns

RUNS = """\
RUNS is FOLDER#ID (the beginning of an id is enough), FOLDER#seed=3, which may
be several runs, or FOLDER with --where or --all. Shards are never rewritten:
tags, notes and deletions are saved in small files next to them."""


def add_runs(parser: ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUNS", help="FOLDER, FOLDER#ID or FOLDER#seed=N")
    parser.add_argument(
        "--where",
        metavar="SQL",
        help="only runs that match this condition: accuracy > 0.9 AND dim = 2",
    )
    parser.add_argument("--all", action="store_true", help="all runs of the folder")


def chosen(options: Namespace, deleted: bool = False) -> "StoredRuns":
    """The runs that are meant; there is at least one."""
    from dynascope.store.files import path_of
    from dynascope.store.recipe import is_recipe

    if is_recipe(path_of(parse(options.runs).folder)):
        raise DynascopeError(
            f"{options.runs}: a file keeps no tags, notes or deletions; save its run into a folder "
            "first: ds.load(FILE).save(FOLDER)."
        )
    named = parse(options.runs).which is not None
    if not (named or options.where or options.all):
        raise DynascopeError(
            f"{options.runs}: which runs? Add #ID or #seed=N to the folder, or --where, or --all."
        )
    runs = resolve_many(options.runs, deleted)
    if options.where:
        runs = runs.where(options.where)
        if not len(runs):
            raise DynascopeError(f"--where: no run matches {options.where}.")
    return runs


def count(runs: "StoredRuns") -> str:
    return many(len(runs), "run")

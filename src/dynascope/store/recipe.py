"""A run as a recipe: what it began with, and what was changed on the way. `FORMAT.md` has its JSON.

The sandbox saves runs that were trained in it this way. Nothing in the file is believed: the run is
trained again, which gives every bit of it, and kept as a store in a folder of its own until this
process ends. So whatever takes a folder takes such a file.
"""

import atexit
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from dynascope.errors import DynascopeError
from dynascope.progress import Report, reporter
from dynascope.run import Run, Runs
from dynascope.store.damage import DamagedError
from dynascope.store.handles import is_file, read_file
from dynascope.store.recipe_plan import LARGEST, Recipe, parse_recipe

ENDING = ".dynascope.json"
_staged: dict[tuple[str, str], Path] = {}  # by name and contents: the folder that was made of them


def is_recipe(path: Path) -> bool:
    """Whether a path is to be read as a recipe: it has the name of one, or is no folder."""
    if os.path.isdir(path):
        return False
    return path.name.endswith(ENDING) or os.path.lexists(path)


def read_recipe(file: Path, progress: bool | Report = True) -> Run:
    """The run that a file describes, trained again; `progress` as in `train`."""
    return _trained(file, _contents(file), progress)


def staged(file: Path) -> Path:
    """A folder with the run of a file, made once as long as its contents stay the same."""
    contents = _contents(file)
    key = (file.name, hashlib.sha256(contents).hexdigest())
    known = _staged.get(key)
    if known and known.is_dir():
        return known
    run = _trained(file, contents)
    folder = Path(tempfile.mkdtemp(prefix="dynascope-"))  # of this person alone
    place = folder / (file.name.removesuffix(ENDING).strip(".") or "run")
    _staged[key] = place
    try:
        Runs([run]).save(place)
    except BaseException:
        del _staged[key]
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return place


@atexit.register
def remove_staged() -> None:
    """Delete the folders that were made of recipes."""
    while _staged:
        shutil.rmtree(_staged.popitem()[1].parent, ignore_errors=True)


def _contents(file: Path) -> bytes:
    try:
        if file.is_symlink():
            raise DynascopeError(f"{file}: is a link; name the file that it leads to.")
        if os.path.lexists(file) and not is_file(file, depth=1):
            raise DynascopeError(f"{file}: expected a file or a folder of runs.")
        return read_file(file, LARGEST, depth=1)
    except OSError as error:
        raise DynascopeError(f"{file}: cannot be read ({error.strerror}).") from None


def _trained(file: Path, contents: bytes, progress: bool | Report = True) -> Run:
    try:
        recipe: Recipe = parse_recipe(contents)
        return recipe.train(reporter(progress))
    except DamagedError as error:
        raise DynascopeError(
            f"{file}: expected a folder of runs or a run that the sandbox saved, but {error}."
        ) from None
    except DynascopeError as error:
        raise DynascopeError(f"{file}: {error}") from None

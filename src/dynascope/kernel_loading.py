"""Loads the kernel before all else, so that what keeps it from running here is one sentence.

Programs that import the package get it as an error that is both ours and an ImportError; a command
prints it and ends. `dynascope.cli` would come too late for that: Python first imports this package.
"""

import os
import sys
from pathlib import PurePath

from dynascope.errors import DynascopeError, did_you_mean, expected
from dynascope.printing import print

_STARTED_AS = ("dynascope", "-m")  # the installed script; `python -m dynascope` while it imports us
_WRONG = "DYNASCOPE_ISA:"  # then the names of those that run here, a semicolon, and all it has


class KernelError(DynascopeError, ImportError):
    """The kernel cannot be loaded as it was asked for."""


def _refusal(usable: str, compiled: str) -> KernelError:
    """A wrong name, or a processor that has none of the instruction sets.

    >>> print(_refusal("", "avx512"))
    processor: expected one with avx512, for which this copy of dynascope was compiled, but this one
    lacks it; install a wheel, which suits every processor of its kind, or run scripts/setup here.
    """
    choices = usable.split(",")
    if not usable:
        return KernelError(
            f"processor: expected one with {compiled.replace(',', ' or ')}, for which this copy of "
            "dynascope was compiled, but this one lacks it; install a wheel, which suits every "
            "processor of its kind, or run scripts/setup here."
        )
    got = os.environ.get("DYNASCOPE_ISA", "")
    what = f"one of {', '.join(choices)} on this machine"
    return KernelError(str(expected("DYNASCOPE_ISA", what, got, did_you_mean(got, choices))))


def _load() -> None:
    try:
        from dynascope import _kernel as _kernel
    except ImportError as error:
        begin, told, names = str(error).partition(_WRONG)
        if begin or not told:
            raise
        usable, _, compiled = names.partition(";")
        refusal = _refusal(usable, compiled)
    else:
        return
    if PurePath(sys.argv[0] if sys.argv else "").stem in _STARTED_AS:
        print(f"dynascope: {refusal}", file=sys.stderr)
        raise SystemExit(refusal.code)
    raise refusal


_load()

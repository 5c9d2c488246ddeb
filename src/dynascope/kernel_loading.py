"""Loads the kernel before all else, so that a wrong DYNASCOPE_ISA is one sentence.

Programs that import the package get it as an error that is both ours and an ImportError; a command
prints it and ends. `dynascope.cli` would come too late for that: Python first imports this package.
"""

import os
import sys
from pathlib import PurePath

from dynascope.errors import DynascopeError, did_you_mean, expected
from dynascope.printing import print

_STARTED_AS = ("dynascope", "-m")  # the installed script; `python -m dynascope` while it imports us
_WRONG = "DYNASCOPE_ISA:"  # how the kernel begins the names of those that would be right


class KernelError(DynascopeError, ImportError):
    """The kernel cannot be loaded as it was asked for."""


def _wrong_instruction_set(names: str) -> KernelError:
    got, choices = os.environ.get("DYNASCOPE_ISA", ""), names.split(",")
    what = f"one of {', '.join(choices)} on this machine"
    return KernelError(str(expected("DYNASCOPE_ISA", what, got, did_you_mean(got, choices))))


def _load() -> None:
    try:
        from dynascope import _kernel as _kernel
    except ImportError as error:
        begin, _, names = str(error).partition(_WRONG)
        if begin or not names:
            raise
        wrong = _wrong_instruction_set(names)
    else:
        return
    if PurePath(sys.argv[0] if sys.argv else "").stem in _STARTED_AS:
        print(f"dynascope: {wrong}", file=sys.stderr)
        raise SystemExit(wrong.code)
    raise wrong


_load()

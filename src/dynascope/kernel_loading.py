"""Loads the kernel before all else, so that a wrong DYNASCOPE_ISA is one sentence for a command.

`dynascope.cli` comes too late for this: Python first imports this package, and so the kernel.
Programs that import the package get the ImportError.
"""

import sys
from pathlib import PurePath

from dynascope.printing import print

_STARTED_AS = ("dynascope", "-m")  # the installed script; `python -m dynascope` while it imports us

try:
    from dynascope import _kernel as _kernel
except ImportError as error:
    _program = PurePath(sys.argv[0]).stem if sys.argv else ""
    if _program not in _STARTED_AS or not str(error).startswith("DYNASCOPE_ISA:"):
        raise
    print(f"dynascope: {error}", file=sys.stderr)
    raise SystemExit(2) from None

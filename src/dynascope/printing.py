"""What is printed. Text of other people's (a note, a file's name, a column) is only ever text.

A terminal obeys what it prints: an escape sequence recolours, hides or rewrites lines, a carriage
return begins the line again, a right-to-left override swaps its words. `printable` shows such
characters as Python writes them; all that a command prints goes through it, by `print` here or by
the console of `dynascope.cli.console`. A test holds that.
"""

import builtins
import re
from typing import TextIO

# Letters and marks to Unicode, but nothing is seen of them: fillers, joiners, variation selectors.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)


def printable(text: object) -> str:
    r"""A text as one line in which nothing is hidden and nothing is obeyed.

    >>> print(printable("a\x1b[31m\nb\u202e"))
    a\x1b[31m\nb\u202e
    """
    line = str(text)
    if not line.isprintable():
        line = "".join(c if c.isprintable() else _escaped(c) for c in line)
    return _INVISIBLE.sub(lambda found: _escaped(found[0]), line)


def _escaped(character: str) -> str:
    return ascii(character)[1:-1]


def print(*lines: object, sep: str = "\n", file: TextIO | None = None, flush: bool = False) -> None:
    """Print lines, each of which stays one: a line break within it is shown, not made."""
    builtins.print(*map(printable, lines), sep=sep, file=file, flush=flush)

"""Values of DYNASCOPE_ISA that are none, and what is said about them."""

import os

from dynascope import _kernel
from dynascope.errors import did_you_mean, shown

# Unknown, of another processor, misspelt, no text, an escape sequence, and far too long.
WRONG_ISAS: list[str | bytes] = [
    "mmx",
    "avx2" if "portable" in _kernel.usable_isas() else "portable",
    _kernel.usable_isas()[0].upper(),
    " ",
    b"\xff\xfe",
    "\x1b[31msse2\n",
    "x" * 1000,
]


def wrong_isa_sentence(value: str | bytes) -> str:
    got, names = os.fsdecode(value), _kernel.usable_isas()
    sentence = f"DYNASCOPE_ISA: expected one of {', '.join(names)} on this machine, but got "
    hint = did_you_mean(got, names)
    return sentence + shown(got) + (f"; {hint}" if hint else ".")

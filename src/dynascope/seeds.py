"""Seeds as they are typed: `20`, `3,5,8`, `10-19`."""

import re

from dynascope.errors import DynascopeError, expected, shown

MAX_RUNS = 10**6  # in one call or command; a slip of the finger must not fill the memory
_PART = re.compile(r"([0-9]{1,16})(?:-([0-9]{1,16}))?", re.ASCII)
_WHAT = "how many (20) or which seeds (3,5,8 or 10-19; one alone ends with a comma: 7,)"


def parse_seeds(text: str) -> list[int]:
    """One number is a count; a comma or a range makes it a list.

    >>> parse_seeds("3"), parse_seeds("3,"), parse_seeds("3,10-12")
    ([0, 1, 2], [3], [3, 10, 11, 12])
    """
    parts = [part.strip() for part in text.split(",")]
    alone = len(parts) == 1
    if not alone and not parts[-1]:
        parts.pop()
    ranges = [_range(part, text, alone) for part in parts]
    if sum(map(len, ranges)) > MAX_RUNS:
        raise expected("--seeds", f"at most {MAX_RUNS} runs at a time", text)
    return [seed for each in ranges for seed in each]


def _range(part: str, text: str, alone: bool) -> range:
    match = _PART.fullmatch(part)
    if match is None:
        raise expected("--seeds", _WHAT, text)
    first = int(match[1])
    if alone and match[2] is None:
        first, last = 0, first - 1
    else:
        last = int(match[2] or first)
    if last < first:
        raise DynascopeError(f"--seeds: {shown(text)} has no seeds; give at least one seed.")
    return range(first, last + 1)

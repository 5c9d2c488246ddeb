"""The colours, markers and letters of everything that is drawn: `theme.json`, which the page reads
too."""

import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def theme() -> dict[str, Any]:
    """
    >>> sorted(theme())
    ['dark', 'fonts', 'light', 'markers', 'version']
    """
    found: dict[str, Any] = json.loads(
        Path(__file__).with_name("theme.json").read_text(encoding="utf-8")
    )
    return found

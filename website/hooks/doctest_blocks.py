"""Doctests in docstrings as blocks of code: in Markdown, `>>>` would be a quotation."""

import re
from typing import Any

from griffe import Extension, Object

_DOCTEST = re.compile(
    r"^(?P<indent> *)>>> .*(?:\n(?P=indent)\S.*|\n(?P=indent) +\S.*)*", re.MULTILINE
)


class DoctestBlocks(Extension):
    """Fences them before the docstrings are rendered."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = _DOCTEST.sub(r"\n```pycon\n\g<0>\n```\n", obj.docstring.value)

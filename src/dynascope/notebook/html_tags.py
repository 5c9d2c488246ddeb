"""HTML and SVG, put together so that text stays text.

`tag` escapes every child and attribute that is not `Html` already, and only `tag` and `joined` make
`Html`: a note or a tag of somebody else's cannot become markup.
"""

from collections.abc import Iterable
from html import escape

from dynascope.printing import printable


class Html(str):
    """Markup; any other text is escaped where it is put."""

    __slots__ = ()


Child = str | Html
_NEVER_CLOSED = frozenset({"br"})


def tag(element: str, *children: Child, **attributes: object) -> Html:
    """An element; `class_` is its class, `stroke_width` its `stroke-width`; None is left out.

    >>> tag("td", "<b>", title='"', class_=None)
    '<td title="&quot;">&lt;b&gt;</td>'
    """
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_escaped(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if element in _NEVER_CLOSED:
        return Html(f"<{element}{given}>")
    return Html(f"<{element}{given}>{joined(children)}</{element}>")


def joined(children: Iterable[Child]) -> Html:
    """Text and markup, one after the other."""
    return Html("".join(each if isinstance(each, Html) else _escaped(each) for each in children))


def lines(text: str) -> Html:
    """Text of several lines.

    >>> lines("a < b\\nc")
    'a &lt; b<br>c'
    """
    return Html("<br>".join(map(_escaped, text.splitlines())))


def _escaped(text: str) -> str:
    """Nothing hidden either: an override of the writing direction is shown as its number."""
    return escape(printable(text))

"""Marks that stand for runs lead there: in SVG each is a link to `#run=ADDRESS`.

An address is what `dynascope show` takes, such as `default#0f3a@1000`. What a link may not carry
as it is, above all a second `#`, is percent-encoded: decodeURIComponent gives the address back.
"""

from urllib.parse import quote, unquote

_PREFIX = "#run="
_AS_IT_IS = "@/="  # means nothing within a fragment, and reads well


def run_link(address: str) -> str:
    """
    >>> run_link("default#0f3a@1000")
    '#run=default%230f3a@1000'
    """
    return _PREFIX + quote(address, safe=_AS_IT_IS)


def linked_run(link: str) -> str | None:
    """The address in a link; None of a link to something else.

    >>> linked_run(run_link("a b&c#<1>@2")), linked_run("#top")
    ('a b&c#<1>@2', None)
    """
    return unquote(link.removeprefix(_PREFIX)) if link.startswith(_PREFIX) else None

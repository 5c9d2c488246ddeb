"""A page in one file that asks nobody for anything: the HTML around what it shows.

Its own policy forbids every request, and every script but the one that is part of it.
"""

import base64
import hashlib
from collections.abc import Sequence
from html import escape

from dynascope.version import __version__


def offline_page(title: str, policy: Sequence[str], style: str, body: str, script: str) -> str:
    """`policy`: in the words of a Content-Security-Policy, a directive each; `body` is HTML."""
    return _PAGE.format(
        policy=escape("; ".join(policy)),
        version=escape(__version__),
        title=escape(title),
        style=_checked(style, "style"),
        body=body,
        script=_checked(script, "script"),
    )


def policy_of(script: str, style: str, *more: str) -> tuple[str, ...]:
    """What nearly every such page may do: `script` and `style` are sources, as `hash_of` gives
    them; `more` are further directives."""
    closed = ("base-uri 'none'", "form-action 'none'")
    return ("default-src 'none'", f"script-src {script}", f"style-src {style}", *more, *closed)


def hash_of(text: str) -> str:
    """The source of an element of the page, by what it holds.

    >>> hash_of("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _checked(text: str, element: str) -> str:
    """The contents of an element, which must not end it early."""
    assert f"</{element}" not in text.lower(), element
    assert "<!--" not in text, element
    return text


# The icon is empty: a browser would ask for one otherwise.
_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="dynascope {version}">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
{body}
<script>{script}</script>
</body>
</html>
"""

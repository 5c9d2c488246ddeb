"""What a code host does with Markdown and the site's renderer does not, or does otherwise."""

import re

from repository_links import outside_fences

_COMMENT = re.compile(r"^<!--.*?-->[ \t]*$", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(
    r'<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">'
    r'\s*<img src="([^"]+)"([^>]*)>\s*</picture>'
)
_LIST_AFTER_TEXT = re.compile(r"^(?![ \t]*(?:[-*|>]|\d+\.) )(\S.*)\n(?=(?:- |1\. ))", re.MULTILINE)
_EXPERIMENT = re.compile(r"^\| ([^|]+) \| `(#v=1&guide=[\w-]+)` \|", re.MULTILINE)


def prepared(text: str) -> str:
    """Without comments, which are for the tests of the documentation; with pictures that follow the
    site's switch; with lists that begin right after a sentence."""
    return outside_fences(text, _prepared)


def _prepared(prose: str) -> str:
    prose = _COMMENT.sub("", prose)
    prose = _PICTURE.sub(_both_schemes, prose)
    return _LIST_AFTER_TEXT.sub(r"\1\n\n", prose)


def _both_schemes(match: re.Match[str]) -> str:
    """The theme shows one of two pictures by the end of its address. A `<picture>` would follow the
    system, whatever the reader has chosen."""
    dark, light, rest = match.groups()
    return f'<img src="{light}#only-light"{rest}><img src="{dark}#only-dark"{rest}>'


def with_guided_links(text: str, playground: str) -> str:
    """The table of guided experiments, each title a link that opens it in the playground."""
    link = rf'| <a href="{playground}\2">\1</a> | `\2` |'
    return _EXPERIMENT.sub(link, text)


def anchor(heading: str, separator: str) -> str:
    """A heading's anchor as forges spell it, so that one link serves both."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)

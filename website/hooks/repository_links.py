"""Where a file of the repository is in the site, and links between files as links between pages.

Pages are written for a code host, where `../README.md` is a file. Here it is a page with another
name. Only links to files that exist are changed: what is left is for the strict build to refuse.
"""

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Pages from outside docs/, and their names in the site.
PAGES = {
    "README.md": "tour.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/README.md": "benchmarks.md",
    "src/dynascope/sandbox/API.md": "server.md",
    "src/dynascope/store/FORMAT.md": "format.md",
    "tests/QUARANTINE.md": "quarantine.md",
}
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(\]\(|\b(?:src|srcset|href)=\")([^)\s\"#]+)")


def site_place(file: str) -> str:
    """Where a file, named from the root of the repository, is in the site."""
    if file in PAGES:
        return PAGES[file]
    return file.removeprefix("docs/") if file.startswith("docs/") else f"source/{file}"


def outside_fences(text: str, change: Callable[[str], str]) -> str:
    """The text with its prose changed and its blocks of code as they are."""
    parts, end = [], 0
    for block in _FENCE.finditer(text):
        parts += [change(text[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, change(text[end:])])


def linked_files(file: str, text: str) -> Iterator[str]:
    """Files of the repository that a file's text leads to."""
    for match in _LINK.finditer(_FENCE.sub("", text)):
        if target := _target(file, match[2]):
            yield target


def with_site_links(file: str, text: str, place: str = "") -> str:
    """The text of a file, with its links as they must be at its place in the site (or another)."""
    folder = posixpath.dirname(place or site_place(file))

    def changed(match: re.Match[str]) -> str:
        target = _target(file, match[2])
        return match[1] + (
            posixpath.relpath(site_place(target), folder or ".") if target else match[2]
        )

    return outside_fences(text, lambda prose: _LINK.sub(changed, prose))


def _target(file: str, link: str) -> str | None:
    """The file of the repository that a link leads to, named from the root."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(file), link))
    return path if not path.startswith("..") and (ROOT / path).is_file() else None

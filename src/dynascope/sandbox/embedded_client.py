"""The client as one page: what `scripts/build-web` makes for it, and the HTML around it.

The page may run its one script, the workers in it and the kernel, and nothing else: its own policy
forbids every request, whatever a run holds. Strings of a run are never part of the HTML.
"""

import base64
import hashlib
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path

from dynascope.errors import DynascopeError
from dynascope.sandbox import client
from dynascope.version import __version__

KERNEL = "/kernel.wasm"  # the path by which the page asks for it


@dataclass(frozen=True)
class EmbeddedClient:
    """The built files."""

    script: str
    style: str
    widget: str  # the notebook's side, which shows the page in a frame
    kernel: bytes


def embedded_client() -> EmbeddedClient:
    """The client as it is built now."""
    return _read(client.FOLDER)


@lru_cache(maxsize=1)
def _read(folder: Path) -> EmbeddedClient:
    try:
        return EmbeddedClient(
            (folder / "embedded/page.js").read_text(encoding="utf-8").strip(),
            (folder / "embedded/page.css").read_text(encoding="utf-8").strip(),
            (folder / "embedded/widget.js").read_text(encoding="utf-8").strip(),
            (folder / "kernel.wasm").read_bytes(),
        )
    except FileNotFoundError:
        raise DynascopeError(
            f"{folder}: expected the sandbox's page, but it is not built; run scripts/build-web."
        ) from None


def page_of(built: EmbeddedClient, title: str, archive: bytes | None = None) -> str:
    """The HTML; without an archive the page waits for somebody who answers."""
    data = "" if archive is None else base64.b64encode(archive).decode()
    return _PAGE.format(
        policy=escape("; ".join(_policy(built))),
        version=escape(__version__),
        title=escape(title),
        style=_checked(built.style, "style"),
        archive=f'<script type="text/plain" id="dynascope-archive">{data}</script>' if data else "",
        script=_checked(built.script, "script"),
    )


def _policy(built: EmbeddedClient) -> tuple[str, ...]:
    return (
        "default-src 'none'",
        f"script-src {_hash(built.script)} 'wasm-unsafe-eval'",
        f"style-src {_hash(built.style)}",
        "img-src data: blob:",
        "worker-src blob:",
        "base-uri 'none'",
        "form-action 'none'",
    )


def _hash(text: str) -> str:
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
<div id="app"><p class="notice">Loading the sandbox.</p></div>
<noscript><p class="notice">The sandbox needs JavaScript: allow it for this page and reload.</p>
</noscript>
{archive}
<script>{script}</script>
</body>
</html>
"""

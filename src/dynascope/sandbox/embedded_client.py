"""The client as one page: what `scripts/build-web` makes for it, and the HTML around it.

The page may run its one script, the workers in it and the kernel, and nothing else: its own policy
forbids every request, whatever a run holds. Strings of a run are never part of the HTML.
"""

import base64
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from dynascope.errors import DynascopeError
from dynascope.offline_page import hash_of, offline_page, policy_of
from dynascope.sandbox import client

KERNEL = "/kernel.wasm"  # the path by which the page asks for it
PAGE = "/page.html"  # and that of the page itself, without an archive


@dataclass(frozen=True)
class EmbeddedClient:
    """The built files."""

    script: str
    style: str
    widget: str  # the notebook's side, which shows the page in a frame
    kernel: bytes


def embedded_client(folder: Path | None = None) -> EmbeddedClient:
    """The client as it is built now; `folder`: where, if not in its place."""
    return _read(folder or client.FOLDER)


def bare_page(built: EmbeddedClient) -> bytes:
    """The page without an archive: for a frame, or for a page that makes a file of itself."""
    return page_of(built, "dynascope").encode()


@lru_cache(maxsize=2)
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
    held = f'<script type="text/plain" id="dynascope-archive">{data}</script>' if data else ""
    return offline_page(title, _policy(built), built.style, f"{_BODY}{held}", built.script)


def _policy(built: EmbeddedClient) -> tuple[str, ...]:
    script = f"{hash_of(built.script)} 'wasm-unsafe-eval'"
    return policy_of(script, hash_of(built.style), "img-src data: blob:", "worker-src blob:")


_BODY = """\
<div id="app"><p class="notice">Loading the sandbox.</p></div>
<noscript><p class="notice">The sandbox needs JavaScript: allow it for this page and reload.</p>
</noscript>
"""

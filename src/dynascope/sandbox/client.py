"""The built client: files of a folder, with the types that browsers insist on."""

import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from dynascope.errors import DynascopeError
from dynascope.sandbox.contents import ASK_AGAIN, is_known
from dynascope.sandbox.security import RequestError, static_file

FOLDER = Path(__file__).with_name("static")

# Our own table: what the system's says depends on the system, and `nosniff` makes it matter.
_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".ico": "image/x-icon",
    ".js": "text/javascript",
    ".json": "application/json",
    ".mjs": "text/javascript",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
}
_HASHED = re.compile(r"[\w.-]+-[\w-]{8}\.\w+", re.ASCII)  # as Vite names what never changes
_FOR_GOOD = "private, max-age=31536000, immutable"


def check_built(folder: Path) -> None:
    """Refuse to serve a client that is not there."""
    if not (folder / "index.html").is_file():
        raise DynascopeError(
            f"{folder}: expected the sandbox's pages, but they are not built; run "
            "scripts/build-web."
        )


def send_file(request: Request, folder: Path) -> Response:
    """The file that the request's path names."""
    file = static_file(folder, request.scope["raw_path"])
    if file is None:
        raise RequestError(404, "There is nothing at this address.")
    try:
        stat, contents = file.stat(), file.read_bytes()
    except OSError:
        raise RequestError(404, "There is nothing at this address.") from None
    etag = f'"{stat.st_mtime_ns:x}-{stat.st_size:x}"'
    lasting = file.parent.name == "assets" and _HASHED.fullmatch(file.name)
    headers = {"ETag": etag, "Cache-Control": _FOR_GOOD if lasting else ASK_AGAIN}
    if is_known(request, etag):
        return Response(status_code=304, headers=headers)
    return Response(contents, 200, headers, _TYPES.get(file.suffix, "application/octet-stream"))

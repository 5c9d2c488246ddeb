"""Contents as HTTP sends them: bytes in ranges, JSON compressed, nothing twice if unchanged."""

import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from dynascope.sandbox.security import CLOSE, RequestError

_RANGE = re.compile(r"bytes=([0-9]{0,15})-([0-9]{0,15})", re.ASCII)
_CHUNK = 2**20  # bytes read at a time: what a slow client costs
_WORTH_GZIP = 2**10
ASK_AGAIN = "private, no-cache"  # a cache may keep it, but asks whether it still holds


@dataclass(frozen=True)
class Blob:
    """Bytes that are read when they are asked for."""

    size: int
    etag: str  # another one if the bytes are others
    read: Callable[[int, int], bytes]  # from the first to before the second

    @classmethod
    def of(cls, contents: bytes, etag: str | None = None) -> "Blob":
        return cls(len(contents), etag or tag(contents), lambda begin, end: contents[begin:end])


@dataclass(frozen=True)
class Document:
    """JSON, as it is and compressed."""

    plain: bytes
    etag: str
    zipped: bytes | None

    @classmethod
    def of(cls, contents: bytes) -> "Document":
        small = len(contents) < _WORTH_GZIP
        zipped = None if small else gzip.compress(contents, 5, mtime=0)
        return cls(contents, tag(contents), zipped)


def json_bytes(told: object) -> bytes:
    """A document as it is sent."""
    return json.dumps(told, separators=(",", ":"), allow_nan=False).encode()


def tag(contents: bytes) -> str:
    """An ETag that follows from the contents."""
    return f'"{hashlib.sha256(contents).hexdigest()[:24]}"'


async def body_of(request: Request, largest: int) -> bytes:
    """What came with a request, whatever it said of its size."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > largest:
            raise RequestError(413, f"Expected at most {largest} bytes.", CLOSE)
        parts.append(part)
    return b"".join(parts)


def send_document(request: Request, document: Document) -> Response:
    """The answer to a request for JSON."""
    headers = {"ETag": document.etag, "Cache-Control": ASK_AGAIN, "Vary": "Accept-Encoding"}
    if is_known(request, document.etag):
        return Response(status_code=304, headers=headers)
    if document.zipped is not None and _takes_gzip(request):
        headers["Content-Encoding"] = "gzip"
        return Response(document.zipped, 200, headers, "application/json")
    return Response(document.plain, 200, headers, "application/json")


def send_text(request: Request, contents: bytes) -> Response:
    """The answer to a request for text that is to be read by programs."""
    headers = {"ETag": tag(contents), "Cache-Control": ASK_AGAIN}
    if is_known(request, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    return Response(contents, 200, headers, "text/plain")


def send_blob(request: Request, blob: Blob) -> Response:
    """The answer to a request for bytes, or for a range of them."""
    headers = {"ETag": blob.etag, "Cache-Control": ASK_AGAIN, "Accept-Ranges": "bytes"}
    if is_known(request, blob.etag):
        return Response(status_code=304, headers=headers)
    wanted = _wanted(request, blob)
    begin, end = (0, blob.size) if wanted is None else wanted
    if wanted is not None:
        headers["Content-Range"] = f"bytes {begin}-{end - 1}/{blob.size}"
    headers["Content-Length"] = str(end - begin)
    status = 200 if wanted is None else 206
    media = "application/octet-stream"
    first = blob.read(begin, min(begin + _CHUNK, end))  # now: damage is an answer of its own
    if begin + _CHUNK >= end or request.method == "HEAD":
        body = b"" if request.method == "HEAD" else first
        return Response(body, status, headers, media)
    return StreamingResponse(_chunks(blob, first, begin, end), status, headers, media)


def _chunks(blob: Blob, first: bytes, begin: int, end: int) -> Iterator[bytes]:
    yield first
    for at in range(begin + _CHUNK, end, _CHUNK):
        yield blob.read(at, min(at + _CHUNK, end))


def is_known(request: Request, etag: str) -> bool:
    """Whether the client has these contents already."""
    given = request.headers.get("if-none-match", "")
    return etag in (each.strip().removeprefix("W/") for each in given.split(","))


def _takes_gzip(request: Request) -> bool:
    given = request.headers.get("accept-encoding", "").lower()
    words = ("".join(each.split()) for each in given.split(","))
    return any(word == "gzip" or (word[:7] == "gzip;q=" and word[7:].strip("0.")) for word in words)


def _wanted(request: Request, blob: Blob) -> tuple[int, int] | None:
    """First and one past the last byte that are asked for; None: all of them."""
    given = request.headers.get("range")
    if given is None or request.headers.get("if-range", blob.etag) != blob.etag:
        return None
    match = _RANGE.fullmatch(given.strip())
    if match is None or not (match[1] or match[2]):
        raise _no_such_range(blob)
    if not match[1]:  # the last so many
        begin, end = max(blob.size - int(match[2]), 0), blob.size
    else:
        begin, end = int(match[1]), min(int(match[2] or blob.size) + 1, blob.size)
    if begin >= end:
        raise _no_such_range(blob)
    return begin, end


def _no_such_range(blob: Blob) -> RequestError:
    return RequestError(
        416,
        f"Expected one range of the {blob.size} bytes, such as bytes=0-99.",
        {"Content-Range": f"bytes */{blob.size}"},
    )

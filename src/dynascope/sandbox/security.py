"""Who may ask the server for what: each rule is one small function, to be read and tested alone.

The server shows a person's own runs to that person's browser, which also has other pages open, on a
machine that may have other users. So a request must carry a secret (`Keys`), must not come from
another page (`check_origin`), must be addressed to this server by a name that nobody else can point
at it (`check_host`), and can name nothing outside what is served (`static_file`).

One route can be written to, if the person asked for it (`is_write`). Such a request must also say
that it comes from our own page, carry a second secret that only this page can read, and say how
large it is (`check_write`).
"""

import re
import secrets
import socket
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import parse_qsl

LONGEST_PATH = 512  # bytes; ours have less than 100
LONGEST_QUERY = 1024
MOST_HEADERS = 64  # a browser sends about 15
LARGEST_HEAD = 2**14  # bytes of all headers together

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
WILDCARDS = frozenset({"0.0.0.0", "::"})  # every address of this machine
# No name that we serve needs more: no escapes, no empty parts, none that begins with a dot. A slash
# at the end is of a folder.
_PATH = re.compile(rb"/(?:[A-Za-z0-9_-][A-Za-z0-9._-]*(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*/?)?")
_NUMBER = re.compile(rb"[0-9]{1,15}")
_HOST = re.compile(r"(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::(?P<port>[0-9]{1,5}))?")

CLOSE = {"Connection": "close"}  # what still follows of a request is not read
HEADERS = {
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'none'",
            "script-src 'self' 'wasm-unsafe-eval'",
            "style-src 'self'",
            "img-src 'self' data: blob:",
            "connect-src 'self'",
            "worker-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class RequestError(Exception):
    """A request that is not answered: a status, and one sentence that says why; `more` is for
    programs."""

    def __init__(
        self,
        status: int,
        why: str,
        headers: dict[str, str] | None = None,
        more: dict[str, int] | None = None,
    ) -> None:
        super().__init__(why)
        self.status, self.why, self.headers, self.more = status, why, headers or {}, more or {}


# ---- what a request looks like ------------------------------------------------------------------


def check_target(path: bytes, query: bytes) -> None:
    """The address: not too long, and only of characters that stand for themselves."""
    if len(path) > LONGEST_PATH or len(query) > LONGEST_QUERY:
        raise RequestError(414, "The address is too long.")
    if not _PATH.fullmatch(path):
        raise RequestError(404, "There is nothing at this address.")


def check_size(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Headers: few and small."""
    given = list(headers)
    if len(given) > MOST_HEADERS or sum(len(a) + len(b) for a, b in given) > LARGEST_HEAD:
        raise RequestError(431, "The request has too many headers.")


def has_body(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether more follows the headers."""
    return any(name == b"transfer-encoding" or _has_length(name, value) for name, value in headers)


def _has_length(name: bytes, value: bytes) -> bool:
    return name == b"content-length" and value.strip() != b"0"


def check_no_body(headers: Iterable[tuple[bytes, bytes]]) -> None:
    if has_body(headers):
        raise RequestError(400, "Expected a request without a body.")


def check_method(method: str) -> None:
    """Nothing here can be changed."""
    if method not in ("GET", "HEAD"):
        raise RequestError(405, "Expected GET or HEAD.", {"Allow": "GET, HEAD"})


def parameters(query: str, **allowed: re.Pattern[str]) -> dict[str, str]:
    """The parameters of a query, of which each may be given once if it looks as it should.

    >>> parameters("split=test", split=re.compile("train|test"))
    {'split': 'test'}
    """
    found: dict[str, str] = {}
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise RequestError(400, "Expected a query of the form name=value.") from None
    for name, value in pairs:
        if name in found or name not in allowed or not allowed[name].fullmatch(value):
            known = ", ".join(f"{each}={what.pattern}" for each, what in allowed.items())
            taken = f"only {known}, each once" if known else "none"
            raise RequestError(400, f"Unexpected parameter: this address takes {taken}.")
        found[name] = value
    return found


# ---- where it goes to and comes from ------------------------------------------------------------


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server that listens there."""
    if host in _LOOPBACK:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def check_host(headers: Iterable[tuple[bytes, bytes]], host: str, port: int) -> str:
    """The `Host` header, which must name this server.

    A page of another site can have its own name resolve to this machine (DNS rebinding); it is then
    same-origin for the browser, but the name in `Host` is still its own.
    """
    given = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
    match = _HOST.fullmatch(given[0]) if len(given) == 1 else None
    if match is None or int(match["port"] or 80) != port or not _is_ours(match, host):
        raise RequestError(421, "Expected the address that `dynascope show` printed.")
    return given[0]


def _is_ours(match: re.Match[str], host: str) -> bool:
    name = match["six"] or match["name"]
    if name in _LOOPBACK or name == host.lower():
        return True
    if host not in WILDCARDS:
        return False
    # All addresses of this machine: numbers cannot be rebound, its own name is the owner's affair.
    return _is_number(name) or name == socket.gethostname().lower()


def _is_number(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def check_origin(headers: Iterable[tuple[bytes, bytes]], host: str) -> None:
    """Refuse what other pages ask for; `host` is the header that was found right.

    Another server on this machine is another origin, but the same site: it gets our cookie sent.
    So the cookie alone proves nothing.
    """
    for name, value in headers:
        foreign = name == b"origin" and value.decode("latin-1").lower() != f"http://{host}"
        if foreign or (name == b"sec-fetch-site" and value not in (b"same-origin", b"none")):
            raise RequestError(
                403,
                "Requests from other pages are refused; paste the address into the address bar.",
            )


# ---- what writes --------------------------------------------------------------------------------

WRITTEN_TO = b"/api/runs"
WRITE_KEY = "X-Dynascope-Write"


def is_write(method: str, path: bytes) -> bool:
    """Whether a request is of the one kind that may change something."""
    return method == "POST" and path == WRITTEN_TO


def check_write(headers: Iterable[tuple[bytes, bytes]], keys: "Keys", largest: int) -> None:
    """What a request that writes must say of itself, besides what all must.

    Browsers send `Origin` with every POST, and no page of another origin can send our header or
    read its secret: not even one on another port of this machine, which gets the cookie sent.
    """
    given = [(name, value.strip()) for name, value in headers]
    if not any(name == b"origin" for name, _ in given):
        raise RequestError(403, "Expected a request of the page itself, with its Origin.")
    found = [value.decode("latin-1") for name, value in given if name == WRITE_KEY.lower().encode()]
    if len(found) != 1 or not keys.may_write(found[0]):
        raise RequestError(403, f"Expected the key that /api/store names, as {WRITE_KEY}.")
    kinds = [value.lower() for name, value in given if name == b"content-type"]
    if kinds not in ([b"application/json"], [b"application/json;charset=utf-8"]):
        raise RequestError(415, "Expected Content-Type: application/json.")
    sizes = [value for name, value in given if name == b"content-length"]
    if len(sizes) != 1 or any(name == b"transfer-encoding" for name, _ in given):
        raise RequestError(411, "Expected a Content-Length.")
    if not _NUMBER.fullmatch(sizes[0]) or int(sizes[0]) > largest:
        raise RequestError(413, f"Expected at most {largest} bytes.")


# ---- who asks -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Keys:
    """The secrets of one server: the token of its address, and what the cookie holds instead.

    Two, so that an address that stays in a history or a list of processes is not the cookie.
    """

    port: int  # part of the cookie's name: browsers give cookies to all ports of a host
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    write: str | None = field(default=None, repr=False)  # the secret of who may write; None: nobody

    @property
    def cookie(self) -> str:
        """What `Set-Cookie` says."""
        return f"{self._name}={self.session}; Path=/; HttpOnly; SameSite=Strict"

    @property
    def _name(self) -> str:
        return f"dynascope-{self.port}"

    def opened_by(self, token: str) -> bool:
        """Whether this is the token."""
        return _same(token, self.token)

    def may_write(self, key: str) -> bool:
        """Whether this is the key to write with."""
        return self.write is not None and _same(key, self.write)

    def known(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Whether a cookie shows that the token was given before.

        Servers on other ports can put cookies of our name before ours: each of them is looked at.
        """
        cookies = (value.decode("latin-1") for name, value in headers if name == b"cookie")
        pairs = (pair.strip().partition("=") for line in cookies for pair in line.split(";"))
        return any(name == self._name and _same(value, self.session) for name, _, value in pairs)


def write_key() -> str:
    """A new secret to write with."""
    return secrets.token_urlsafe(32)


def _same(given: str, secret: str) -> bool:
    """In a time that does not tell how much of it is right."""
    return secrets.compare_digest(given.encode(), secret.encode())


# ---- which file ---------------------------------------------------------------------------------


def static_file(folder: Path, path: bytes) -> Path | None:
    """The file of a folder that a request's path, as it came, names; None if that is none.

    The only place where a request becomes a file's name. Links are followed within the folder only.
    """
    if not _PATH.fullmatch(path) or (path.endswith(b"/") and path != b"/"):
        return None
    try:
        root = folder.resolve(strict=True)
        file = (root / (path[1:] or b"index.html").decode("ascii")).resolve(strict=True)
    except (OSError, RuntimeError):  # not there, or links in a circle
        return None
    return file if file.is_relative_to(root) and file.is_file() else None

"""Requests that nobody should make: each is refused as it should be, and the server lives on.

The table has a category for each way in that the server must keep shut. Requests go as raw bytes
where a client library would put them right. After every single one an honest client is answered.
"""

import secrets
from pathlib import Path
from typing import NamedTuple

import pytest
from analysed import three
from showing import SECRET, Server

import dynascope as ds
from dynascope.sandbox.security import Keys, RequestError, check_host, static_file

NAUGHTY = "<img src=x onerror=alert(1)>\"'&</script>\u2028\x00\x1b[2J"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile") / "store"
    three()[:2].save(folder)
    runs = ds.load(folder)
    runs[:1].note(NAUGHTY)
    runs[:1].tag("constructor")
    return folder


class Case(NamedTuple):
    request: str  # the first line without GET and HTTP/1.1, or all of it
    status: int | None  # None: too large to say whether the answer still reaches it
    headers: tuple[str, ...] = ()
    host: str | None = None
    cookie: str | None = None  # None: the right one


def paths(status: int, *found: str) -> list[Case]:
    return [Case(path, status) for path in found]


def hosts(status: int, *found: str) -> list[Case]:
    return [Case("/", status, host=host) for host in found]


def headers(status: int, *found: str, path: str = "/api/runs") -> list[Case]:
    return [Case(path, status, (header,)) for header in found]


def strangers(status: int, *found: str) -> list[Case]:
    """Without the cookie."""
    return [Case(path, status, cookie="") for path in found]


TABLE: dict[str, list[Case]] = {
    "dots": paths(
        *(404, "/../secret.txt", "/../../etc/passwd", "/assets/../../secret.txt", "/./index.html"),
        *("/..", "/.", "/...", "/assets/..", "/.hidden", "/assets/.hidden", "/..;/secret.txt"),
        *("/....//secret.txt", "/assets/../index.html"),
    ),
    "encodings": paths(
        *(404, "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/%2e%2e%2fsecret.txt", "/%252e%252e/x"),
        *("/..%5csecret.txt", "/..\\secret.txt", "/%c0%ae%c0%ae/secret.txt", "/index%2ehtml"),
        *("/%00", "/index.html%00.js", "/%u002e%u002e/x", "/%", "/%zz", "/assets%2fplain.js"),
        *("/api/run/%2e%2e", "/style.css;x", "/~root", "/index.html#x", "/*", "/$HOME"),
    ),
    "absolute paths": paths(
        *(
            404,
            "//etc/passwd",
            "///etc/passwd",
            "/etc/passwd",
            "//evil.example/",
            "/C:/x",
            "/file:/x",
        ),
        *("//", "/assets//plain.js", "http://evil.example/", "http://127.0.0.1/index.html"),
        *("file:///etc/passwd", "index.html", "*"),
    ),
    "links out of the folder": paths(
        *(404, "/out.txt", "/outside/secret.txt", "/outside"),
        *("/circle", "/circle/x", "/assets", "/assets/", "/index.html/x"),
    ),
    "foreign host": [
        *hosts(421, "evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:{other}"),
        *hosts(
            421, "127.0.0.1.evil.example:{port}", "localhost.evil.example:{port}", "[::2]:{port}"
        ),
        *hosts(421, "192.168.0.1:{port}", "0.0.0.0:{port}", "127.1:{port}", "2130706433:{port}"),
        *hosts(421, "user@127.0.0.1:{port}", "127.0.0.1:{port}:{port}", "127.0.0.1:{port}/x", ""),
        *hosts(421, "127.0.0.1:{port}, evil.example", "127.0.0.1:0{port}0", "[127.0.0.1]x", "::1"),
        Case("/", 400, ("Host: evil.example",)),  # two of them
        Case("GET / HTTP/1.0\r\n\r\n", 421),
        Case("GET / HTTP/1.1\r\n\r\n", 400),
    ],
    "foreign origin": [
        *headers(403, "Origin: http://evil.example", "Origin: null", "Origin: http://127.0.0.1"),
        *headers(403, "Origin: https://127.0.0.1:{port}", "Origin: http://localhost:{port}"),
        *headers(403, "Origin: http://127.0.0.1:{other}", "Origin:", "Origin: file://"),
        *headers(403, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"),
        *headers(403, "Sec-Fetch-Site: whatever", "Sec-Fetch-Site: cross-site", path="/"),
        Case("/?token={token}", 403, ("Sec-Fetch-Site: cross-site",), cookie=""),
        Case("/api/runs", 403, ("Origin: http://127.0.0.1:{port}", "Origin: http://evil.example")),
    ],
    "missing token": [
        *strangers(403, "/", "/kernel.wasm", "/api/store"),
        Case("/api/runs", 403, cookie="other=1"),
        *strangers(403, "/?token=", "/nothing"),  # what is there is nobody's business
    ],
    "wrong token": [
        *strangers(403, "/?token=wrong", "/?token={token}x", "/?token={short}"),
        *strangers(403, "/?token={token}&token={token}", "/?token=wrong&token={token}"),
        *strangers(403, "/?token=%ff%fe"),
        Case("/?token=wrong", 403),  # nor with the cookie
        Case("/api/runs", 403, cookie="dynascope-{port}=wrong"),
        Case("/api/runs", 403, cookie="dynascope-{port}="),
        Case("/api/runs", 403, cookie="dynascope-{port}"),
        Case("/api/runs", 403, cookie="; ;=;;dynascope-{port}=\xff;"),
    ],
    "replayed token": [
        Case("/?token={session}", 403, cookie=""),  # the cookie's secret is not the token
        Case("/", 403, cookie="dynascope-{port}={token}"),  # nor the other way round
        Case("/?token={earlier}", 403, cookie=""),  # of another server
        Case("/", 403, cookie="dynascope-{port}={earlier}"),
        Case("/", 403, cookie="dynascope-{other}={session}"),
        Case("/api/runs?token={token}", 403, cookie=""),  # it opens one door only
        Case("/index.html?token={token}", 403, cookie=""),
        Case("/api/runs", 403, ("Authorization: Bearer {token}",), cookie=""),
        Case("/api/runs", 403, ("X-Token: {token}",), cookie=""),
    ],
    "oversized": [
        Case("/" + "a" * 513, 414),
        Case("/api/runs?" + "a" * 1025, 414),
        Case("/" + "a/" * 9000, None),
        Case("/", None, ("X-Large: " + "a" * 20000,)),
        Case("/", None, ("Cookie: " + "a=b; " * 5000,)),
        Case("/", None, ("X-Huge: " + "a" * 2_000_000,)),
        Case("/", 431, tuple(f"X-{i}: 1" for i in range(100))),
        Case("/api/run/" + "0" * 400, 404),
        Case("/api/run/{id}/state/" + "9" * 100, 404),
        Case("/api/runs", 400, ("Content-Length: 10",)),
        Case("/api/runs", 400, ("Content-Length: 99999999999999999999",)),
        Case("/api/runs", 400, ("Transfer-Encoding: chunked",)),
        Case("/api/run/{id}/weights", 416, ("Range: bytes=" + ",".join(["0-1"] * 500),)),
    ],
    "malformed": [
        Case("\x00\x01\x02\x03\r\n\r\n", 400),
        Case("\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400),  # the beginning of TLS
        Case("GET\r\n\r\n", 400),
        Case("GET / HTTP/9.9\r\nConnection: close\r\n\r\n", 421),
        Case("GET /\xff HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n", 400),
        Case("GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400),
        Case("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nA: b\r\n c: folded\x00\r\n\r\n", 400),
        Case("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 404),
        Case("/api/runs", 400, ("Content-Length: -1",)),
        Case("/api/runs", 400, ("Content-Length: 0", "Content-Length: 5")),
        Case("/api/runs?a", 400),
        Case("/api/runs?=", 400),
        Case("/api/runs?__proto__=1", 400),
        Case("/api/run/{id}/examples?split=train%00", 400),
        Case("/api/run/{id}/examples?split[]=train", 400),
        Case("/api/run/{id}/analysis?curvature=1;curvature=0", 400),
        *paths(
            *(400, "/api/run/{id}/sequences?most=-1", "/api/run/{id}/sequences?most=1e9"),
            *("/api/run/{id}/sequences?most=01", "/api/run/{id}/sequences?most=%d9%a3"),
            *("/api/run/{id}/sequences?most=5&most=5", "/api/run/{id}/sequences?most=5%00"),
            *("/api/run/{id}/sequences?most=" + "9" * 400, "/api/run/{id}/sequences?most="),
            *("/api/run/{id}/sequences?most[]=5", "/api/run/{id}/sequences?split=test&most=5"),
        ),
    ],
    "other methods": [
        Case(f"{method} /api/runs HTTP/1.1", 405)
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get", "X")
    ]
    + [
        Case("CONNECT evil.example:80 HTTP/1.1", 404),
        Case("/api/runs", 200, ("X-HTTP-Method-Override: DELETE",)),
        Case("/api/runs", 200, ("Upgrade: websocket", "Sec-WebSocket-Version: 13")),
        Case("/api/runs", 200, ("X-Forwarded-Host: evil.example", "X-Forwarded-For: 1.2.3.4")),
    ],
    "hostile ids": paths(
        *(404, "/api/run/" + "0" * 20, "/api/run/" + "G" * 20, "/api/run/{id}0", "/api/run/{ID}"),
        *("/api/run/constructor", "/api/run/", "/api/run/{id}/", "/api/run/{id}/weights/x"),
        *("/api/run/{id}/state/0x10", "/api/run/{id}/state/01e1", "/api", "/api/"),
    ),
}
CASES = [(category, case) for category, cases in TABLE.items() for case in cases]
EARLIER = secrets.token_urlsafe(32)


def bytes_of(server: Server, case: Case) -> bytes:
    """The case's request, with this server's secrets filled in where they are named."""
    run = three()[0].id
    words = {
        "{port}": str(server.port),
        "{other}": str(server.port + 1),
        "{token}": server.token,
        "{short}": server.token[:-1],
        "{session}": server.cookie.partition("=")[2],
        "{earlier}": EARLIER,
        "{id}": run,
        "{ID}": run.upper(),
    }

    def filled(text: str) -> str:
        for name, value in words.items():
            text = text.replace(name, value)
        return text

    if "\r\n" in case.request:
        return filled(case.request).encode("latin-1")
    first = case.request if " HTTP/" in case.request else f"GET {case.request} HTTP/1.1"
    host = filled("127.0.0.1:{port}" if case.host is None else case.host)
    cookie = server.cookie if case.cookie is None else filled(case.cookie)
    lines = [filled(first), f"Host: {host}", "Connection: close", *map(filled, case.headers)]
    lines += [f"Cookie: {cookie}"] if cookie else []
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


@pytest.mark.parametrize(
    ("category", "case"), CASES, ids=[f"{name}-{case.request[:30]!r}" for name, case in CASES]
)
def test_refused(server: Server, category: str, case: Case) -> None:
    answer = server.raw(bytes_of(server, case))
    if case.status is None:
        assert answer[9:12] in (b"", b"400", b"414", b"431")
    else:
        assert answer.startswith(f"HTTP/1.1 {case.status} ".encode())
    for secret in (SECRET, server.token.encode(), server.cookie.partition("=")[2].encode()):
        assert secret not in answer
    assert b"Traceback" not in answer
    assert b"set-cookie" not in answer.lower()
    honest = server.get("/api/store")
    assert (honest.status, honest.json["runs"]) == (200, 2)


def test_the_table_can_fail(server: Server) -> None:
    """The same requests without what is wrong with them are answered."""
    for case in (
        Case("/", 200),
        Case("/", 200, host="localhost:{port}"),
        Case("/", 200, host="LOCALHOST:{port}"),
        Case("/", 200, host="[::1]:{port}"),
        Case("/api/runs", 200, ("Origin: http://127.0.0.1:{port}",)),
        Case("/api/runs", 200, ("Sec-Fetch-Site: same-origin",)),
        Case("/", 200, ("Sec-Fetch-Site: none",)),
        Case("/?token={token}", 303, cookie=""),
        Case("/", 200, cookie="dynascope-{port}=wrong; x=y; dynascope-{port}={session}"),
        Case("/" + "a" * 511, 404),
        Case("/api/runs", 200, tuple(f"X-{i}: 1" for i in range(50))),
        Case("/api/runs", 200, ("Content-Length: 0",)),
        Case("/api/run/{id}", 200),
    ):
        answer = server.raw(bytes_of(server, case))
        assert int(answer.split()[1]) == case.status, case


def test_refusals_are_sentences(server: Server) -> None:
    page = server.get("/", Cookie="x=1")
    assert page.headers["content-type"] == "text/plain; charset=utf-8"
    assert page.body.startswith(b"dynascope: Expected the address that `dynascope show` printed")
    told = server.get("/api/runs", Cookie="x=1")
    assert told.headers["content-type"] == "application/json"
    assert told.json["error"].startswith("Expected the address")
    assert server.get("/api/runs", method="POST").json == {"error": "Expected GET or HEAD."}


def test_what_people_wrote_stays_text(server: Server) -> None:
    answer = server.get("/api/runs")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.json["columns"]["note"][0] == NAUGHTY
    assert answer.json["columns"]["tags"][0] == ["constructor"]
    assert answer.body.isascii()  # no line separator, no control character reaches the client raw
    assert b"\x00" not in answer.body
    assert b"\x1b" not in answer.body


# ---- the rules alone ----------------------------------------------------------------------------


def test_no_file_outside_is_found(static: Path) -> None:
    assert static_file(static, b"/") == (static / "index.html").resolve()
    assert static_file(static, b"/in.css") == (static / "style.css").resolve()
    for path in (
        b"/../secret.txt",
        b"/out.txt",
        b"/outside/secret.txt",
        b"//etc/passwd",
        b"",
        b"x",
    ):
        assert static_file(static, path) is None
    assert static_file(static / "nowhere", b"/") is None


def test_keys_are_long_and_differ() -> None:
    a, b = Keys(80), Keys(80)
    assert len({a.token, a.session, b.token, b.session}) == 4
    assert min(map(len, (a.token, a.session))) >= 43  # 32 bytes
    assert a.token not in repr(a)
    assert a.session not in repr(a)


def test_the_default_port_may_be_left_out() -> None:
    assert check_host([(b"host", b"localhost")], "127.0.0.1", 80) == "localhost"
    with pytest.raises(RequestError):
        check_host([(b"host", b"localhost")], "127.0.0.1", 8000)

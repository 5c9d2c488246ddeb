"""What tests of `dynascope show` share: a tiny client, the server as a process, requests."""

import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from processes import environment

from dynascope.sandbox.server import Sandbox

FILES = {
    "index.html": b"<!doctype html><title>tiny</title>",
    "kernel.wasm": b"\0asm\1\0\0\0",
    "style.css": b"p { color: teal }",
    "icon.svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    "theme.json": b"{}",
    "assets/index-B1c2D3e4.js": b"export {};",
    "assets/plain.js": b"export {};",
    ".hidden": b"secret",
}
SECRET = b"nobody outside is to see this"
# The real command, with our client in the place of the built one; then what a test changes.
_COMMAND = """
import sys; from pathlib import Path
from dynascope.sandbox import client; client.FOLDER = Path(sys.argv[1])
{change}
from dynascope.cli import main; sys.exit(main(["show", *sys.argv[2:]]))
"""
ENVIRONMENT = environment("DISPLAY", "BROWSER")


def tiny_client(folder: Path) -> Path:
    """A folder as the client's build makes it, and links that lead in and out of it."""
    static = folder / "static"
    for name, contents in FILES.items():
        (static / name).parent.mkdir(parents=True, exist_ok=True)
        (static / name).write_bytes(contents)
    (folder / "secret.txt").write_bytes(SECRET)
    (static / "out.txt").symlink_to("../secret.txt")
    (static / "outside").symlink_to("..")
    (static / "in.css").symlink_to("style.css")
    (static / "circle").symlink_to("circle")
    return static


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]  # names in lower case
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """A running `dynascope show`, and a client that has been let in."""

    def __init__(self, process: "subprocess.Popen[str]", said: str) -> None:
        self.process = process
        found = re.search(r"(http://(\S+):(\d+)/)\?token=([\w-]+)(#\S+)?", said)
        assert found, said
        self.address, self.origin = found[0], found[1].removesuffix("/")
        self.port, self.token, self.fragment = int(found[3]), found[4], found[5]
        self.cookie = ""

    def enter(self) -> Answer:
        """Open the address; from then on every request carries the cookie."""
        answer = self.get(f"/?token={self.token}")
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer

    def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """An ordinary request; `_` in a header's name is `-`, an empty header is left out."""
        given = {"Cookie": self.cookie} | {k.replace("_", "-"): v for k, v in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, headers={k: v for k, v in given.items() if v})
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())
        finally:
            connection.close()

    def raw(self, request: bytes, seconds: float = 10.0) -> bytes:
        """Bytes as they are: what a client library would never send."""
        with socket.create_connection(("127.0.0.1", self.port), seconds) as connection:
            connection.settimeout(seconds)
            found = b""
            try:
                connection.sendall(request)
                while more := connection.recv(65536):
                    found += more
            except (TimeoutError, ConnectionError):
                pass
            return found

    def head(self, *lines: str, host: str | None = None) -> bytes:
        """A request's bytes: its first line and headers, with a right Host and cookie."""
        named = f"Host: 127.0.0.1:{self.port}" if host is None else f"Host: {host}"
        own = [lines[0], named, f"Cookie: {self.cookie}", "Connection: close", *lines[1:]]
        return ("\r\n".join(own) + "\r\n\r\n").encode("latin-1")

    def descriptors(self) -> int:
        """How many files and sockets the server has open."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self, how: int = signal.SIGINT) -> tuple[int, str]:
        """Ctrl-C; exit code and stderr."""
        self.process.send_signal(how)
        _, stderr = self.process.communicate(timeout=30)
        return self.process.returncode, stderr


@contextmanager
def show(static: Path, *arguments: object, change: str = "", **more: str) -> Iterator[Server]:
    """Serve within the block; the client has been let in. `more` goes into the environment."""
    process = subprocess.Popen(
        [sys.executable, "-c", _COMMAND.format(change=change), str(static), *map(str, arguments)],
        env={**ENVIRONMENT, **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        ready, _, _ = select.select([process.stdout], [], [], 60)
        said = process.stdout.readline() if ready else ""
        if "http" not in said:
            process.kill()
            raise AssertionError(said + process.communicate()[1])
        server = Server(process, said)
        server.enter()
        yield server
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


@contextmanager
def served(store: Path, static: Path, writable: bool = False) -> Iterator[tuple[Server, Sandbox]]:
    """The server in a thread of this process, so that tests can look inside."""
    sandbox = Sandbox(store, static=static, writable=writable)
    thread = threading.Thread(target=sandbox.run)
    thread.start()
    try:
        client = Server(None, sandbox.address)  # type: ignore[arg-type]
        client.enter()
        yield client, sandbox
    finally:
        sandbox.stop()
        thread.join(30)
        assert sandbox.close()


def until(holds: Any, seconds: float = 20.0) -> bool:
    """Whether something comes to hold in time."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True

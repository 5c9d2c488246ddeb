"""An installed Chromium, Chrome or Edge without windows, which opens one page for us.

It is spoken to over a pipe, so that nobody else on the machine can (the DevTools protocol: JSON,
each message ended by a zero byte). It has a profile of its own, which goes with it.
"""

import contextlib
import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from dynascope.errors import DynascopeError, expected
from dynascope.platforms import system

_NAMES = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("microsoft-edge", "microsoft-edge-stable"),
)
_OPTIONS = (
    *("--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars"),
    *("--no-first-run", "--no-default-browser-check", "--disable-extensions", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-breakpad"),
    *("--disable-background-timer-throttling", "--disable-renderer-backgrounding"),
    *("--disable-dev-shm-usage", "--mute-audio", "--password-store=basic", "--use-mock-keychain"),
    "--js-flags=--optimize-for-size --max-semi-space-size=2",  # less memory
    "--disable-features=SpareRendererForSitePerProcess",  # a process for a page that nobody opens
)
_PATIENCE = 120.0  # seconds that an answer may take, on a busy machine
_TRIES = 40  # to remove the profile, in two seconds
_LONGEST_FOLDER = 40  # characters: of a socket's path there may be 107 in all
_SAID = 300  # characters of the browser's last words


class BrowserError(DynascopeError):
    """The browser did not do what it was asked for; not the user's mistake."""

    code = 1


class NotNowError(BrowserError):
    """The browser cannot do this now, as while a page is being opened."""


def find_browser(named: str | None = None) -> str:
    """The path of the browser that was named, or of one that is installed."""
    if named is not None:
        found = shutil.which(os.path.expanduser(named))
        if found is None:
            raise expected("--browser", "the path of Chromium, Chrome or Edge", named)
        return found
    places = [*filter(None, map(shutil.which, _NAMES)), *system.browser_places()]
    for place in places:
        if os.access(place, os.X_OK) and Path(place).is_file():
            return place
    raise DynascopeError(
        "--browser: found no Chromium, Chrome or Edge, which draws the film; install one (for "
        "example `apt install chromium` or `brew install --cask google-chrome`), or name it with "
        "--browser PATH."
    )


class HeadlessBrowser:
    """Within its block the browser runs; `open` gives it a page, `evaluate` asks that something."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._asked = 0
        self._held = b""
        self._session: str | None = None

    def __enter__(self) -> "HeadlessBrowser":
        self._profile = tempfile.mkdtemp(prefix="dynascope-browser-", dir=_temporary_folder())
        self._program = system.piped_program()
        try:
            self._start()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def open(self, address: str) -> None:
        """Open a page; from now on `evaluate` asks it."""
        idle = self._ask("Target.getTargets")["targetInfos"]  # what the browser began with
        target = self._ask("Target.createTarget", url=address)["targetId"]
        for each in idle:
            if each["type"] == "page":
                self._ask("Target.closeTarget", targetId=each["targetId"])
        found = self._ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = found["sessionId"]

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page, awaited."""
        found = self._ask(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in found:
            details = found["exceptionDetails"]
            told = details.get("exception", {}).get("description") or details.get("text", "")
            raise BrowserError(f"The page failed: {told.splitlines()[0] if told else 'no reason'}.")
        return found["result"].get("value")

    # ---- the process -------------------------------------------------------------------------
    def _start(self) -> None:
        try:
            self._program.start(
                self._path, [*_OPTIONS, *self._own_options(), "about:blank"], self._profile
            )
        except OSError as error:
            raise DynascopeError(
                f"--browser: cannot start {self._path} ({error.strerror}); name another one."
            ) from None

    def _own_options(self) -> list[str]:
        own = [f"--user-data-dir={self._profile}"]
        # Chromium refuses to run as root with its sandbox; the only page it opens is ours.
        return [*own, "--no-sandbox"] if system.is_root() else own

    def _end(self) -> None:
        """Nothing of it is left: no process, no profile."""
        self._program.end()
        for _ in range(_TRIES):  # what is just dying may still write
            shutil.rmtree(self._profile, ignore_errors=True)
            if not os.path.exists(self._profile):
                break
            time.sleep(0.05)

    # ---- the protocol ------------------------------------------------------------------------
    def _ask(self, method: str, **parameters: object) -> Any:
        self._asked += 1
        message: dict[str, object] = {"id": self._asked, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        self._send(json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + _PATIENCE
        while True:
            answer = json.loads(self._message(deadline))
            if answer.get("id") != self._asked:
                continue  # something happened that we did not ask about
            if "error" in answer:
                why = answer["error"]["message"].rstrip(".")
                raise NotNowError(f"The browser refused {method}: {why}.")
            return answer["result"]

    def _send(self, message: bytes) -> None:
        try:
            self._program.send(message)
        except BrokenPipeError:
            raise self._gone() from None

    def _message(self, deadline: float) -> bytes:
        while b"\0" not in self._held:
            more = self._program.receive(max(0.0, deadline - time.monotonic()))
            if more is None:
                raise BrowserError(f"{self._path}: expected an answer, but got none in time.")
            if not more:
                raise self._gone()
            self._held += more
        message, _, self._held = self._held.partition(b"\0")
        return message

    def _gone(self) -> BrowserError:
        said: list[str] = []
        with contextlib.suppress(OSError):
            said = Path(self._profile, "words").read_text("utf-8", "replace").strip().splitlines()
        last = next((line for line in said if "FATAL" in line), said[-1] if said else "")[-_SAID:]
        return BrowserError(
            f"{self._path}: the browser ended before the film was done"
            + (f" ({last})" if last else "")
            + "; --browser names another one."
        )


def _temporary_folder() -> str:
    """The system's, or /tmp where the name of that is too long for the browser's sockets."""
    usual = tempfile.gettempdir()
    return usual if len(usual) <= _LONGEST_FOLDER or not os.path.isdir("/tmp") else "/tmp"

"""Firefox, driven by WebDriver BiDi, which it speaks itself: no driver, no network but loopback.

Debian's Firefox prints the address of a websocket; commands and their answers are JSON objects, as
https://w3c.github.io/webdriver-bidi/ has them. All calls wait for their answer, and never for ever.
"""

import base64
import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import websocket

FIREFOX = os.environ.get("FIREFOX", "/usr/bin/firefox-esr")
PATIENCE = 60.0  # seconds, on a busy machine
KEYS = {"ArrowLeft": "\ue012", "ArrowRight": "\ue014", "End": "\ue010", "Home": "\ue011"}

# Nothing of its own: no first pages, no updates, no telemetry, nothing fetched in the background.
# What asks for another host all the same is refused, as by a network that is off.
_PREFERENCES: dict[str, object] = {
    **dict.fromkeys(
        (
            *("app.normandy.enabled", "app.update.auto", "browser.aboutwelcome.enabled"),
            *("browser.newtabpage.enabled", "browser.safebrowsing.malware.enabled"),
            *("browser.safebrowsing.phishing.enabled", "browser.search.update"),
            *("browser.shell.checkDefaultBrowser", "datareporting.healthreport.uploadEnabled"),
            *("datareporting.policy.dataSubmissionEnabled", "dom.push.connection.enabled"),
            *("extensions.getAddons.cache.enabled", "extensions.systemAddon.update.enabled"),
            *("extensions.update.enabled", "media.gmp-manager.updateEnabled"),
            *("messaging-system.rsexperimentloader.enabled", "network.prefetch-next"),
            *("network.captive-portal-service.enabled", "network.connectivity-service.enabled"),
            *("nimbus.rollouts.enabled", "privacy.reduceTimerPrecision"),
            *("toolkit.telemetry.enabled", "toolkit.telemetry.unified"),
        ),
        False,
    ),
    "app.update.disabledForTesting": True,
    "browser.region.network.url": "",
    "browser.startup.page": 0,
    "services.settings.server": "data:,#none",
    "startup.homepage_welcome_url": "",
    "ui.prefersReducedMotion": 0,
    "network.proxy.type": 1,
    **{f"network.proxy.{kind}": "127.0.0.1" for kind in ("http", "ssl")},
    **{f"network.proxy.{kind}_port": 9 for kind in ("http", "ssl")},  # where nobody answers
}


@contextmanager
def firefox() -> Iterator["Firefox"]:
    """A headless Firefox with a profile of its own, both gone after the block."""
    if not Path(FIREFOX).exists():
        raise AssertionError(
            f"Expected Firefox at {FIREFOX}, but found none; run scripts/setup all."
        )
    with tempfile.TemporaryDirectory(prefix="firefox", ignore_cleanup_errors=True) as folder:
        lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in _PREFERENCES.items()]
        (Path(folder) / "user.js").write_text("\n".join(lines))
        command = [FIREFOX, "--headless", "--no-remote", "--profile", folder]
        said = Path(folder) / "said.txt"
        with said.open("w") as out:
            process = subprocess.Popen(
                [*command, "--remote-debugging-port=0", "about:blank"],
                env={**os.environ, "HOME": folder},
                stdout=out,
                stderr=out,
            )
        try:
            running = Firefox(_address(process, said))
            yield running
            running.close()
            process.wait(PATIENCE)
        finally:
            process.kill()
            process.wait()


def _address(process: "subprocess.Popen[bytes]", said: Path) -> str:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        if found := re.search(r"listening on (ws://127\.0\.0\.1:\d+)", said.read_text()):
            return found[1]
        time.sleep(0.05)
    raise AssertionError(f"Firefox did not start: {said.read_text()}")


class Firefox:
    """A session: commands go out, answers and events come in."""

    def __init__(self, address: str) -> None:
        self.events: list[dict[str, Any]] = []
        self._asked = 0
        self._socket = websocket.create_connection(
            f"{address}/session", timeout=PATIENCE, suppress_origin=True
        )
        self.command("session.new", capabilities={})
        self.command("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])

    def command(self, method: str, **parameters: Any) -> Any:
        """What Firefox answers; events that come meanwhile are kept."""
        self._asked += 1
        asked = {"id": self._asked, "method": method, "params": parameters}
        self._socket.send(json.dumps(asked))
        while True:  # the socket has its own patience
            message = json.loads(self._socket.recv())
            if message["type"] == "event":
                self.events.append(message)
            elif message.get("id") == self._asked:
                break
        if message["type"] == "error":
            raise AssertionError(f"{method}: {message['error']}: {message['message']}")
        return message["result"]

    def close(self) -> None:
        self.command("browser.close")
        self._socket.close()


class Page:
    """A page in a browser that knows nothing yet, but has seen the introduction."""

    def __init__(self, browser: Firefox, width: int = 1440, height: int = 900) -> None:
        self.browser = browser
        self._since = len(browser.events)
        self.user = browser.command("browser.createUserContext")["userContext"]
        created = browser.command("browsingContext.create", type="tab", userContext=self.user)
        self.context = created["context"]
        self.command("browsingContext.setViewport", viewport={"width": width, "height": height})
        seen = "() => { try { localStorage.setItem('dynascope.introduced', 'yes') } catch {} }"
        browser.command(
            "script.addPreloadScript", functionDeclaration=seen, contexts=[self.context]
        )

    def command(self, method: str, **parameters: Any) -> Any:
        return self.browser.command(method, context=self.context, **parameters)

    def close(self) -> None:
        self.browser.command("browser.removeUserContext", userContext=self.user)

    def go_offline(self) -> None:
        self.browser.command(
            "emulation.setNetworkConditions",
            networkConditions={"type": "offline"},
            contexts=[self.context],
        )

    # ---- hands -------------------------------------------------------------------------------
    def goto(self, address: str) -> None:
        self.command("browsingContext.navigate", url=address, wait="complete")

    def press(self, key: str) -> None:
        value = KEYS.get(key, key)
        strokes = [{"type": kind, "value": value} for kind in ("keyDown", "keyUp")]
        source = {"type": "key", "id": "keyboard", "actions": strokes}
        self.command("input.performActions", actions=[source])

    def pointer(self, *steps: str | tuple[float, float]) -> None:
        """The mouse goes to places in the viewport, and is "down" or "up"."""
        told = [
            {"type": "pointerMove", "x": round(step[0]), "y": round(step[1]), "duration": 0}
            if isinstance(step, tuple)
            else {"type": f"pointer{step.capitalize()}", "button": 0}
            for step in steps
        ]
        source = {"type": "pointer", "id": "mouse", "actions": told}
        self.command("input.performActions", actions=[source])

    def click(self, selector: str) -> None:
        self.wait_for(
            "(selector) => document.querySelector(selector)?.disabled === false", selector
        )
        place = self.evaluate(_MIDDLE, selector)
        self.pointer((place[0], place[1]), "down", "up")

    def fill(self, selector: str, text: str) -> None:
        """A field's text, as if it were typed."""
        self.evaluate(_FILL, [selector, text])

    # ---- eyes --------------------------------------------------------------------------------
    def evaluate(self, function: str, given: Any = None) -> Any:
        """What a function of the page returns, or its promise brings; as JSON has it."""
        call = f"(async () => JSON.stringify(await ({function})({json.dumps(given)})))()"
        found = self.browser.command(
            "script.evaluate",
            expression=call,
            target={"context": self.context},
            awaitPromise=True,
        )
        if found["type"] == "exception":
            raise AssertionError(found["exceptionDetails"]["text"])
        return json.loads(found["result"].get("value", "null"))

    def wait_for(self, function: str, given: Any = None, seconds: float = PATIENCE) -> Any:
        """What a function returns, once that is true."""
        end = time.monotonic() + seconds
        while not (found := self.evaluate(function, given)):
            if time.monotonic() > end:
                raise AssertionError(f"Waited {seconds:.0f} seconds for {function}")
            time.sleep(0.05)
        return found

    def screenshot(self, file: Path) -> None:
        found = self.command("browsingContext.captureScreenshot")
        file.write_bytes(base64.b64decode(found["data"]))

    @property
    def problems(self) -> list[str]:
        """Errors and warnings since it was made, also those that nobody caught."""
        told = [each["params"] for each in self._events("log.entryAdded")]
        return [each["text"] for each in told if each["level"] in ("error", "warn")]

    @property
    def requests(self) -> list[str]:
        sent = self._events("network.beforeRequestSent")
        return [str(each["params"]["request"]["url"]) for each in sent]

    def _events(self, method: str) -> list[dict[str, Any]]:
        self.browser.command("session.status")  # what was sent before is here then
        events = self.browser.events[self._since :]
        return [each for each in events if each["method"] == method]


_MIDDLE = """(selector) => {
    const element = document.querySelector(selector);
    element.scrollIntoView({ block: "nearest", behavior: "instant" });
    const { left, top, width, height } = element.getBoundingClientRect();
    return [left + width / 2, top + height / 2]; }"""
_FILL = """([selector, text]) => {
    const field = document.querySelector(selector);
    field.focus();
    field.value = text;
    for (const kind of ["input", "change"])
        field.dispatchEvent(new Event(kind, { bubbles: true })); }"""

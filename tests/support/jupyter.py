"""A real JupyterLab for tests: its server as a process, notebooks as files, a page in a browser."""

import json
import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Frame, Locator, Page, WebSocket, expect
from processes import environment, finished

_PATIENCE = 60.0  # seconds until the server must be there


def write_notebook(path: Path, *cells: str) -> Path:
    """A notebook of these cells of code."""
    code: dict[str, Any] = {"cell_type": "code", "execution_count": None, "metadata": {}}
    listed = [
        {**code, "id": f"cell{i}", "outputs": [], "source": cell} for i, cell in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    whole = {
        "cells": listed,
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path


def _own_places(folder: Path) -> dict[str, str]:
    """Nothing of the person's own settings is read or written."""
    names = ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR", "HOME")
    return environment(**{name: str(folder / "own" / name.lower()) for name in names})


def html_of(notebook: Path, *options: str) -> Path:
    """The notebook as nbconvert makes HTML of it."""
    command = [sys.executable, "-m", "nbconvert", "--to", "html", *options, str(notebook)]
    done = finished(command, env=_own_places(notebook.parent))
    assert done.returncode == 0, done.stderr
    return notebook.with_suffix(".html")


@contextmanager
def jupyter_lab(folder: Path) -> Iterator[str]:
    """JupyterLab of the notebooks in a folder; the address of its pages, `{}` for a notebook."""
    own, token = _own_places(folder), secrets.token_hex(8)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0"]
    settings = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.root_dir": folder,
        "IdentityProvider.token": token,
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
    }
    with open(folder / "jupyter.log", "wb") as log:
        process = subprocess.Popen(
            [*command, *(f"--{name}={value}" for name, value in settings.items())],
            env=own,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        place = _address(Path(own["JUPYTER_RUNTIME_DIR"]), process)
        yield f"{place}doc/tree/{{}}?token={token}"
    finally:
        process.terminate()
        process.wait(30)


def _address(runtime: Path, process: "subprocess.Popen[bytes]") -> str:
    """As the server writes it down for others, once it listens."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and process.poll() is None:
        for file in runtime.glob("jpserver-*.json"):
            try:
                return str(json.loads(file.read_text(encoding="utf-8"))["url"])
            except ValueError:
                pass  # still being written
        time.sleep(0.1)
    raise AssertionError("JupyterLab did not start")


class NotebookPage:
    """A notebook in JupyterLab, with all that comes from its kernel."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.context = browser.new_context(viewport={"width": 1600, "height": 1300})
        self.context.set_default_timeout(60_000)
        self.page: Page = self.context.new_page()
        self.received: list[bytes] = []
        self.problems: list[str] = []
        self.page.on("websocket", self._listen)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.goto(address)
        self.page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        idle = ".jp-Notebook-ExecutionIndicator[data-status=idle]"
        self.page.locator(idle).first.wait_for(state="attached")

    def _listen(self, socket: WebSocket) -> None:
        def keep(payload: str | bytes) -> None:
            self.received.append(payload if isinstance(payload, bytes) else payload.encode())

        socket.on("framereceived", keep)

    def cell(self, index: int) -> Locator:
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def run(self, index: int) -> Locator:
        """Run a cell to its end; its output."""
        prompt = self.cell(index).locator(".jp-InputPrompt")
        for _ in range(12):
            self._select(index)
            self.page.keyboard.press("Control+Enter")
            # A page that has just been drawn may not hear its keys yet: then nothing has begun.
            begun = "(prompt) => !/\\[ \\]/.test(prompt.textContent)"
            for _ in range(25):
                if prompt.evaluate(begun):
                    break
                self.page.wait_for_timeout(200)
            if prompt.evaluate(begun):
                break
        expect(prompt).to_have_text(re.compile(r"\[\d+\]"), timeout=60_000)
        return self.cell(index).locator(".jp-OutputArea")

    def _select(self, index: int) -> None:
        """By a click, again if what is above it moved meanwhile: outputs grow as they are drawn."""
        for _ in range(20):
            self.cell(index).locator(".cm-content").click()
            focused = "(cell) => cell.contains(document.activeElement)"
            if self.cell(index).evaluate(focused):
                return
            self.page.wait_for_timeout(200)
        raise AssertionError(f"cell {index} cannot be selected")

    def frame(self, index: int) -> Frame:
        """The page within a cell's output."""
        handle = self.cell(index).locator("iframe").element_handle()
        frame = handle.content_frame()
        assert frame is not None
        return frame

    def times_received(self, part: bytes) -> int:
        return sum(part in message for message in self.received)

    def save(self, notebook: Path) -> None:
        before = os.stat(notebook).st_mtime_ns
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("Control+s")
        end = time.monotonic() + 30
        while os.stat(notebook).st_mtime_ns == before and time.monotonic() < end:
            self.page.wait_for_timeout(100)

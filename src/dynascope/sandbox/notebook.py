"""The sandbox within a notebook, fed from memory: a widget whose page asks this process.

The page is that of an exported file, in a frame of its own. It and the kernel are sent once for all
cells of a notebook's window, when they are first asked for; each view then asks for what it shows.
What is saved with the notebook is an exported file with fewer epochs, for whoever reads it without
Python.
"""

import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from typing import Any

import anywidget
import numpy as np
import traitlets

from dynascope.errors import DynascopeError, expected
from dynascope.run import Run
from dynascope.sandbox.direct_answers import DirectAnswers, is_slow
from dynascope.sandbox.embedded_client import KERNEL, PAGE, bare_page, embedded_client
from dynascope.sandbox.marked_things import checked_mark
from dynascope.sandbox.one_file import check_runs, one_file
from dynascope.sandbox.store_answers import Shown

HEIGHTS = (200, 4000)  # pixels
_SAVED_EPOCHS = 200  # whose weights are saved with the notebook


@lru_cache(maxsize=1)
def _page() -> bytes:
    return bare_page(embedded_client())


class _CalledOff(Exception):
    """Nobody waits for the answer any more."""


@dataclass(frozen=True)
class _Question:
    """What a view of the widget asks."""

    view: object
    id: object
    path: str
    part: tuple[int, int] | None  # of the bytes; None: all
    stop: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        if self.stop.is_set():
            raise _CalledOff


class SandboxWidget(anywidget.AnyWidget):
    """The sandbox with a run, or two. `epoch` and `marked` follow the page, and it follows them.

    `marked` is None or a dict: `{"kind": "token", "index": 1}`, and so with "position" and "unit";
    `{"kind": "pair", "token": 1, "position": 3}`; `{"kind": "sequence", "tokens": [0, 1, ...]}`;
    with `"run": 1` it is about the second run.
    """

    epoch = traitlets.Int().tag(sync=True)
    marked = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    height = traitlets.Int(720).tag(sync=True)
    client = traitlets.Unicode(read_only=True).tag(sync=True)  # which page and kernel it needs

    def __init__(self, runs: list[Run], epoch: int, height: int, saved: bool) -> None:
        check_runs(runs)
        built = embedded_client()
        self._runs, self._saved = [run.loaded() for run in runs], saved
        self._shown = Shown(
            runs[0].id, self._checked_epoch(epoch), runs[1].id if len(runs) > 1 else None
        )
        self._answers = DirectAnswers(self._runs, self._shown)
        self._slow = ThreadPoolExecutor(1, "dynascope-notebook")
        self._open: dict[tuple[object, object], _Question] = {}
        self._esm = built.widget
        super().__init__(epoch=self._shown.epoch, height=height)
        self.set_trait("client", hashlib.sha256(_page() + built.kernel).hexdigest()[:16])
        self.on_msg(self._asked)

    # ---- what Python sets -----------------------------------------------------------------------
    @traitlets.validate("epoch")
    def _check_epoch(self, proposal: Any) -> int:
        return self._checked_epoch(proposal["value"])

    @traitlets.validate("marked")
    def _check_marked(self, proposal: Any) -> dict[str, Any] | None:
        return checked_mark(proposal["value"], self._runs)

    @traitlets.validate("height")
    def _check_height(self, proposal: Any) -> int:
        if not HEIGHTS[0] <= proposal["value"] <= HEIGHTS[1]:
            what = f"a whole number of pixels from {HEIGHTS[0]} to {HEIGHTS[1]}"
            raise expected("height", what, proposal["value"])
        return int(proposal["value"])

    def _checked_epoch(self, epoch: Any) -> int:
        """Up to the end of the longer run, also where it has diverged: the page goes as far."""
        last = max(run.epochs for run in self._runs)
        whole = isinstance(epoch, int | np.integer) and not isinstance(epoch, bool)
        if not whole or not -1 <= epoch <= last:
            raise expected("epoch", f"a whole number from 0 to {last}", epoch)
        return max(run.checked_epoch(-1) for run in self._runs) if epoch == -1 else int(epoch)

    # ---- what the page asks ---------------------------------------------------------------------
    def _asked(self, widget: object, content: dict[str, Any], buffers: object) -> None:
        key = (content.get("view"), content.get("id"))
        if content.get("abort"):
            if key in self._open:
                self._open[key].stop.set()
            return
        part = content.get("range")
        question = _Question(*key, str(content.get("path")), (part[0], part[1]) if part else None)
        self._open[key] = question
        if is_slow(question.path):
            self._slow.submit(self._reply, question)  # cells go on meanwhile
        else:
            self._reply(question)

    def _reply(self, question: "_Question") -> None:
        told = {"view": question.view, "id": question.id}
        try:
            question.check()
            status, contents = self._answer(question.path, question.part, question.check)
            self.send({**told, "status": status}, [contents])
        except _CalledOff:
            pass
        except Exception as error:  # a fault of ours: the page says so, the notebook goes on
            self.send({**told, "failed": f"Python stumbled ({type(error).__name__}: {error})."})
        finally:
            self._open.pop((question.view, question.id), None)

    def _answer(
        self, path: str, part: tuple[int, int] | None, check: Callable[[], None]
    ) -> tuple[int, bytes]:
        if path == PAGE:
            return 200, _page()
        if path == KERNEL:
            return 200, embedded_client().kernel
        return self._answers.answer(path, part, check)

    # ---- what is saved --------------------------------------------------------------------------
    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        assert bundle is not None  # it has a view
        data, metadata = bundle
        if self._saved:
            data["text/html"] = self._saved_frame()
            if _is_batch():  # nobody is there to show the widget, now or later
                data = {name: data[name] for name in ("text/plain", "text/html")}
        return data, metadata

    def __repr__(self) -> str:
        named = ", ".join(f"seed={run.seed}" for run in self._runs)
        return f"SandboxWidget({named}, epoch={self.epoch})"

    def _saved_frame(self) -> str:
        every = -(-max(run.epochs for run in self._runs) // _SAVED_EPOCHS) or 1
        shown = Shown(self._shown.run, self.epoch, self._shown.beside)
        page = one_file(self._runs, shown, every, False, analyse=self._answers.analysis).decode()
        return (
            f'<iframe sandbox="allow-scripts allow-downloads allow-forms" srcdoc="{escape(page)}" '
            f'style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )


def _is_batch() -> bool:
    """Whether cells are run by a program (nbconvert, papermill) and nobody sits before them.

    Such programs say that nobody can be asked for input.
    """
    try:
        from IPython import get_ipython

        parent = get_ipython().kernel.get_parent()
        return parent["content"].get("allow_stdin") is False
    except (ImportError, AttributeError, KeyError, TypeError):
        return False


def sandbox_of(run: Run, epoch: int, beside: Run | None, height: int, saved: bool) -> SandboxWidget:
    """The widget; `beside` is a second run."""
    for name, other in (("run", run), ("beside", beside)):
        if other is not None and not isinstance(other, Run):
            raise expected(name, "a ds.Run", other)
    try:
        return SandboxWidget([run] if beside is None else [run, beside], epoch, height, saved)
    except traitlets.TraitError as error:
        raise DynascopeError(f"sandbox: {error}") from None

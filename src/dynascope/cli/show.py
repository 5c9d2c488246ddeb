"""`dynascope show`: runs in the browser."""

import os
import signal
import sys
import threading
import webbrowser
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from dynascope.cli.address import Address, parse, resolve
from dynascope.cli.arguments import number
from dynascope.cli.interrupt import CtrlC, ends_raised
from dynascope.errors import DynascopeError
from dynascope.platforms import system
from dynascope.printing import print

if TYPE_CHECKING:
    from dynascope.sandbox.server import LocalServer

ABOUT = """\
Show runs in the browser: every panel of a model at every epoch, moved by one
slider, and a table of all runs of the folder. Of a folder that `dynascope study`
made, show the report: a click on a point opens its run. Press Ctrl-C to stop. If
runs are added meanwhile, reload the page to see them."""
EXAMPLES = """\
RUN is FOLDER#ID (the beginning of an id is enough) or FOLDER#seed=3; RUN@250
starts at epoch 250.

The printed address contains a secret: anyone who has it and can reach this
machine can see the runs. Nothing can be changed through it, unless you add
--writable: then *Save* in the page also saves a run that you trained there, or
a branch, into FOLDER. Runs are only ever added. It works on this machine only,
not together with a --host that others can reach.

A run that the page saved as a file, NAME.dynascope.json, is trained again and
shown as a folder would be.

examples:
  dynascope show runs/first
  dynascope show runs/first --writable
  dynascope show runs/first#seed=15@80
  dynascope show runs/first --no-open --port 8000
  dynascope show study-all-quick
"""


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "runs", metavar="FOLDER", help="a folder of runs or of studies, or RUN to start with one"
    )
    parser.add_argument(
        "--port", metavar="N", type=number, default=0, help="(default: any free port)"
    )
    parser.add_argument(
        "--host",
        metavar="ADDRESS",
        default="127.0.0.1",
        help="address to listen on (default: 127.0.0.1, reachable from this machine only)",
    )
    parser.add_argument("--no-open", action="store_true", help="do not open the browser")
    parser.add_argument(
        "--writable", action="store_true", help="let the page save its runs into FOLDER"
    )


def run(options: Namespace) -> int:
    """Serve until Ctrl-C."""
    return leave(serve(_sandbox(options), options))


def serve(sandbox: "LocalServer", options: Namespace) -> bool:
    """Say where, and serve until Ctrl-C or another end; whether all work has ended then."""
    with ends_raised():
        try:
            # uvicorn sees to the others; an exception in the middle of its loop is no good end.
            if signal.getsignal(system.CLOSED_TERMINAL) is not signal.SIG_IGN:
                signal.signal(system.CLOSED_TERMINAL, lambda number, frame: sandbox.stop())
            _announce(sandbox, options)
            sandbox.run()
        except KeyboardInterrupt:
            pass  # the way to end it
        with CtrlC():  # of a second one there is nothing more to end
            return sandbox.close() and threading.active_count() == 1


def leave(ended: bool) -> int:
    """The exit code. What has not ended cannot be interrupted: an analysis, or an answer.

    Nobody waits for it any more, and nothing is being written.
    """
    if not ended:
        from dynascope.store.recipe import remove_staged

        remove_staged()  # what ends now takes leave of nothing
        sys.stdout.flush()
        os._exit(0)
    return 0


def _announce(sandbox: "LocalServer", options: Namespace) -> None:
    if not sandbox.loopback:
        print(
            f"dynascope: warning: other machines can reach {options.host}: anyone who has the "
            "address below can see these runs, and the connection is not encrypted.",
            file=sys.stderr,
        )
    print(f"{sandbox.site} at {sandbox.address}", "Press Ctrl-C to stop.", flush=True)
    if not options.no_open and _has_browser():
        # In a thread: some browsers return only when they are closed.
        threading.Thread(target=webbrowser.open, args=(sandbox.address,), daemon=True).start()


def _sandbox(options: Namespace) -> "LocalServer":
    from dynascope.sandbox.server import Sandbox
    from dynascope.sandbox.store_answers import Shown
    from dynascope.store.files import path_of
    from dynascope.store.recipe import is_recipe, staged
    from dynascope.studies.study_folder import read_about

    address, shown = parse(options.runs), Shown()
    path = path_of(address.folder)
    if is_recipe(path):
        if options.writable:
            raise DynascopeError(f"--writable: expected a folder of runs, but {path} is a file.")
        path = staged(path)
    elif read_about(path) is not None:
        return _report(address, options)
    if address.which is not None or address.epoch is not None:
        found, _ = resolve(options.runs)
        shown = Shown(found.id, address.epoch)
    return Sandbox(path, options.host, options.port, shown, writable=options.writable)


def _report(address: Address, options: Namespace) -> "LocalServer":
    """The server of a folder of studies."""
    from dynascope.sandbox.report_site import ReportSite
    from dynascope.sandbox.server import LocalServer
    from dynascope.store.files import path_of
    from dynascope.studies.report_page import policy
    from dynascope.studies.study_folder import REPORT, stores_of

    path = path_of(address.folder)
    if options.writable:
        raise DynascopeError(
            f"--writable: {path} holds studies, whose runs stay as they are; name another folder."
        )
    if address.which is not None or address.epoch is not None:
        raise DynascopeError(
            f"{options.runs}: expected a run of one of its folders, as in "
            f"{path / 'runs' / 'SOURCE'}#ID@EPOCH."
        )
    if not (path / REPORT).is_file():
        raise DynascopeError(
            f"{path}: has no report yet; run the same `dynascope study` command to its end."
        )
    site = ReportSite(path / REPORT, stores_of(path), "; ".join(policy()), "the report")
    return LocalServer(site, options.host, options.port)


def _has_browser() -> bool:
    """Whether there is one with windows: one in the terminal would take that over."""
    asked = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    return system.HAS_DESKTOP or any(os.environ.get(name) for name in asked)

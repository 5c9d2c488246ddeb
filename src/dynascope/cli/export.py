"""`dynascope export`: the sandbox with a run, as one file."""

from argparse import ArgumentParser, Namespace

from dynascope.cli.address import parse, resolve
from dynascope.cli.arguments import number
from dynascope.errors import Description, DynascopeError, expected
from dynascope.printing import print

ABOUT = """\
Write the sandbox with a run, or with two side by side, to one HTML file. It
opens by a double click in any browser of today, without dynascope, a server or
a network: send it, or put it on a website."""
EXAMPLES = """\
RUN is FOLDER#ID (the beginning of an id is enough) or FOLDER#seed=3; with
RUN@250 the file opens at epoch 250. Epochs whose weights were not kept are
computed again for the file, where that is possible.

examples:
  dynascope export runs/first#seed=15 -o run.html
  dynascope export runs/first#seed=15@80 runs/first#seed=3 -o two.html
  dynascope export runs/long#seed=0 --every 10 -o run.html
  dynascope export --playground -o play.html
"""


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUN", nargs="*", help="a run, or two to compare")
    parser.add_argument("-o", "--out", metavar="FILE", required=True, help="the new file, .html")
    parser.add_argument(
        "--playground", action="store_true", help="without a run: train one in the page"
    )
    parser.add_argument(
        "--every",
        metavar="N",
        type=number,
        default=1,
        help="keep the weights of every N-th epoch only (default: of all)",
    )
    parser.add_argument(
        "--curvature",
        action="store_true",
        help="add the exact Hessian at a few epochs; this takes ten seconds or more",
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def run(options: Namespace) -> int:
    """Check everything first, since analyses take seconds; then write the file at once."""
    from dynascope.cli.interrupt import CtrlC
    from dynascope.cli.train_and_save import Watch
    from dynascope.new_file import check_new_file, write_new_file
    from dynascope.progress import Bar
    from dynascope.sandbox.one_file import (
        ENDINGS,
        check_every,
        check_runs,
        one_file,
        playground,
        warn_if_large,
    )
    from dynascope.sandbox.store_answers import Shown

    check_every(options.every, "--every")
    if options.playground:
        if options.runs:
            raise expected("--playground", "no run", options.runs[0])
        target = check_new_file(options.out, ENDINGS)
        page = playground()
        write_new_file(target, page)
        return _told(options, page)
    if not options.runs:
        raise DynascopeError("RUN: missing; see dynascope export --help.")
    runs = [resolve(text)[0] for text in options.runs]
    check_runs(runs)
    target = check_new_file(options.out, ENDINGS)
    shown = Shown(runs[0].id, _epoch(options.runs), runs[1].id if len(runs) > 1 else None)
    with CtrlC() as ctrl_c:
        watch = Watch(ctrl_c, None if options.quiet else Bar())
        page = one_file(runs, shown, options.every, options.curvature, watch)
        write_new_file(target, page)
    warn_if_large(options.out, len(page), options.every, "--every {}")
    return _told(options, page)


def _told(options: Namespace, page: bytes) -> int:
    if not options.quiet:
        print(f"{options.out}: {len(page) / 1e6:.1f} MB; open it in a browser.")
    return 0


def _epoch(named: list[str]) -> int | None:
    """At which the file opens: one slider moves both runs."""
    first, *rest = (parse(text).epoch for text in named)
    if any(epoch not in (None, first) for epoch in rest):
        raise expected(named[1], "an epoch after the first run only", Description("another one"))
    return first

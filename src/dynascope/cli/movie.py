"""`dynascope movie`: a film of a run."""

import re
import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from dynascope.cli.address import resolve
from dynascope.cli.interrupt import ends_raised
from dynascope.errors import Description, expected
from dynascope.printing import print

if TYPE_CHECKING:
    from dynascope.run import Run

ABOUT = """\
Make a film of a run as the sandbox shows it: every panel, the loss and the
playhead, epoch by epoch. A Chromium, Chrome or Edge that is installed draws it,
without a window. Ctrl-C stops and leaves no file."""
EXAMPLES = """\
RUN is FOLDER#ID (the beginning of an id is enough) or FOLDER#seed=3.

examples:
  dynascope movie runs/first#seed=15 -o run.mp4
  dynascope movie runs/first#seed=15 --from 440 --to 480 --every 0.2 -o spike.mp4
  dynascope movie runs/first#seed=15 --compare runs/first#seed=3 -o two.webm
  dynascope movie runs/first#seed=15 --panels sequence,decision_map,loss -o small.gif
"""


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("run_address", metavar="RUN", help="the run")
    parser.add_argument(
        "-o", "--out", metavar="FILE", required=True, help="the film: FILE.mp4, .webm or .gif"
    )
    parser.add_argument("--compare", metavar="RUN", help="another run beside it")
    parser.add_argument(
        "--panels", metavar="NAMES", help="panels, separated by commas (default: all)"
    )
    parser.add_argument("--from", metavar="EPOCH", dest="first", help="(default: 0)")
    parser.add_argument("--to", metavar="EPOCH", dest="last", help="(default: the last)")
    parser.add_argument(
        "--every", metavar="N", default="1", help="epochs from frame to frame (default: 1)"
    )
    parser.add_argument("--fps", metavar="N", help="frames a second (default: 30; of a GIF, 20)")
    parser.add_argument(
        "--slow", metavar="N", default="1", help="N times slower around spikes (default: 1)"
    )
    parser.add_argument(
        "--size", metavar="WxH", default="1280x720", help="in pixels (default: 1280x720)"
    )
    parser.add_argument("--theme", default="light", help="light or dark (default: light)")
    parser.add_argument("--axes", default="follow", help="follow or fixed (default: follow)")
    parser.add_argument(
        "--browser", metavar="PATH", help="the browser (default: one that is installed)"
    )


def run(options: Namespace) -> int:
    """Make the film, then say what it is."""
    from dynascope.sandbox.movie import PLAYED_EVERYWHERE, movie, read_size

    given = _arguments(options)
    size = read_size(options.size)
    found = [_run(address) for address in (options.run_address, options.compare) if address]
    compare = found[1] if len(found) > 1 else None
    last = max(each.epochs if each.diverged is None else each.diverged for each in found)
    first = _epoch("--from", options.first, 0)
    epochs = (first, _epoch("--to", options.last, last))
    with ends_raised():
        made = movie(found[0], options.out, compare=compare, epochs=epochs, size=size, **given)
    kind = made.codec or "GIF"
    megabytes = made.path.stat().st_size / 1e6
    print(
        f"{made.path}: {made.frames} frames, {made.seconds:.1f} s, "
        f"{made.size[0]}x{made.size[1]}, {kind}, {megabytes:.1f} MB"
    )
    if made.path.suffix.lower() == ".mp4" and made.codec != PLAYED_EVERYWHERE:
        print(
            f"dynascope: warning: this browser cannot encode {PLAYED_EVERYWHERE}, so the film is "
            f"{made.codec}, which QuickTime and PowerPoint may refuse; Chrome can.",
            file=sys.stderr,
        )
    return 0


def _arguments(options: Namespace) -> dict[str, Any]:
    """What `movie` takes, read from text."""
    panels = options.panels
    return {
        "panels": None if panels is None else [name.strip() for name in panels.split(",")],
        "every": _number("--every", options.every),
        "fps": None if options.fps is None else _number("--fps", options.fps),
        "slow": _number("--slow", options.slow),
        "theme": options.theme,
        "axes": options.axes,
        "browser": options.browser,
    }


def _run(address: str) -> "Run":
    found, epoch = resolve(address)
    if epoch != -1:
        raise expected(address, "a run without an epoch", Description(f"an epoch, @{epoch}"))
    return found


def _epoch(option: str, text: str | None, otherwise: int) -> int:
    if text is None:
        return otherwise
    if not re.fullmatch(r"[0-9]{1,9}", text, re.ASCII):
        raise expected(option, "an epoch: a whole number", text)
    return int(text)


def _number(option: str, text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text, re.ASCII):
        raise expected(option, "a number such as 2 or 0.5", text)
    return float(text)

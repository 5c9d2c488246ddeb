"""`dynascope figure`: pictures of runs for papers."""

import inspect
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from dynascope.cli.address import parse, resolve, resolve_many
from dynascope.cli.arguments import number
from dynascope.errors import DynascopeError, expected, unknown
from dynascope.figure_layouts import LAYOUTS
from dynascope.new_file import NewFile, check_new_file, write_new_file
from dynascope.printing import print

if TYPE_CHECKING:
    from dynascope.plots.figure_sources import FigureSource

ENDINGS = (".pdf", ".svg", ".png")
_RESOLUTION = 300  # dots per inch of a PNG
_OF_MANY = ("circuits",)  # layouts that choose among the runs of a folder
# Of what is not the picture: without a date, the same figure is the same file.
_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "Producer": None, "Creator": "dynascope"},
    "svg": {"Date": None, "Creator": "dynascope"},
    "png": {"Software": None},
}

ABOUT = f"""\
Make a figure of runs: a PDF or SVG in which text stays text, or a PNG.

layouts:
{chr(10).join(f"  {name:<10} {about}" for name, about in LAYOUTS.items())}"""

EXAMPLES = """\
RUN is FOLDER#ID (the beginning of an id is enough) or FOLDER#seed=3; RUN@250
means epoch 250: of `spike`, the spike nearest to it. `circuits` takes folders, too.

examples:
  dynascope figure panels runs/first#seed=15@80 -o panels.pdf
  dynascope figure panels runs/first#seed=15 --epochs 0,60,1000 \\
      --panels positions,normalized,sequence,decision_map -o rows.pdf
  dynascope figure phases runs/first#seed=15 --width column -o phases.svg
  dynascope figure spike runs/first#seed=15@456 -o spike.pdf --data spike.csv
  dynascope figure circuits runs/first -o circuits.png
  dynascope figure landscape runs/first#seed=15 --directions sharp -o loss.pdf
"""


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("layout", metavar="LAYOUT", help="what to draw: see above")
    parser.add_argument("runs", metavar="RUN", nargs="+", help="the runs, with or without @EPOCH")
    parser.add_argument(
        "-o", "--out", metavar="FILE", required=True, help="ends in .pdf, .svg or .png"
    )
    parser.add_argument("--panels", metavar="A,B", help="which panels, named as in the sandbox")
    parser.add_argument("--epochs", metavar="A,B", help="a row of panels for each of these epochs")
    parser.add_argument(
        "--width", metavar="WIDTH", help="column (3.25 inches), page (6.75), or inches"
    )
    parser.add_argument("--theme", metavar="THEME", help="light or dark (default: light)")
    parser.add_argument("--scale", metavar="SCALE", help="of gradient norms: log or linear")
    parser.add_argument(
        "--directions",
        metavar="WHICH",
        help="of a landscape: random, negative, sharp or path (default: random)",
    )
    parser.add_argument(
        "--seed", metavar="N", type=number, help="of a landscape's random directions (default: 0)"
    )
    parser.add_argument("--data", metavar="FILE", help="write the numbers to this CSV file, too")


def run(options: Namespace) -> int:
    """Everything that can be refused is refused before anything is drawn or written."""
    if options.layout not in LAYOUTS:
        raise unknown("", options.layout, LAYOUTS, kind="layout")
    out = check_new_file(options.out, ENDINGS)
    data = None if options.data is None else check_new_file(options.data, [".csv"])
    from dynascope import plots

    given = _options(options, plots.LAYOUTS[options.layout])
    made = plots.figure(options.layout, *_sources(options), **given)
    kind = out.suffix.lower().removeprefix(".")
    numbers = None if data is None else made.numbers()

    with NewFile(out) as drawn:
        made.savefig(drawn.file, format=kind, dpi=_RESOLUTION, metadata=_METADATA[kind])
        drawn.finish()
    if data is not None and numbers is not None:
        write_new_file(data, numbers.encode())
    print(f"Drew {out}.", *([] if data is None else [f"Wrote {data}."]))
    return 0


def _sources(options: Namespace) -> "list[FigureSource]":
    found: list[FigureSource] = []
    for text in options.runs:
        address = parse(text)
        if options.layout in _OF_MANY and address.epoch is None:
            found += resolve_many(text)
        else:
            one, epoch = resolve(text)
            found.append(one if epoch == -1 else (one, epoch))
    return found


def _options(options: Namespace, layout: Any) -> dict[str, Any]:
    """What was asked for, once it is sure that the layout can do it."""
    asked: dict[str, Any] = {
        "panels": options.panels,
        "epochs": None if options.epochs is None else _epochs(options.epochs),
        "width": None if options.width is None else _width(options.width),
        "theme": options.theme,
        "scale": options.scale,
        "directions": options.directions,
        "seed": options.seed,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    takes = inspect.signature(layout).parameters
    for name in given:
        if name not in takes:
            raise DynascopeError(f"--{name}: the layout {options.layout} has no such choice.")
    return given


def _epochs(text: str) -> list[int]:
    numbers = [number(each.strip()) for each in text.split(",")]
    if not all(isinstance(each, int) and each >= 0 for each in numbers):
        raise expected("--epochs", "whole numbers with commas between them", text)
    return [int(each) for each in numbers]


def _width(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text

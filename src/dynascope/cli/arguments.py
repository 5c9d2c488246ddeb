"""What can be typed after `dynascope`, and the help that teaches it.

Options hold text as it was typed. What it must look like is said once, where the value is used
(`parse_seeds`, the config, the engine), so the sentence about a wrong one is the same everywhere.
"""

import argparse
import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn

from dynascope import version
from dynascope.errors import DynascopeError, shown, unknown
from dynascope.printing import print

_ABOUT = """\
A laboratory for watching transformers learn: train thousands of tiny ones in
seconds, and keep every epoch of every run."""

_EXAMPLES = """\
examples:
  dynascope demo
  dynascope train --seeds 100 --out runs/first
  dynascope report runs/first
  dynascope show runs/first
  dynascope export runs/first#seed=15 -o run.html
  dynascope movie runs/first#seed=15 -o run.mp4
  dynascope figure phases runs/first#seed=15 -o phases.pdf
  dynascope query runs/first "SELECT seed, accuracy FROM runs ORDER BY accuracy"
  dynascope sweep --example > grid.toml
  dynascope sweep grid.toml --out runs/grid
  dynascope study all --scale quick
  dynascope COMMAND --help
"""


@dataclass(frozen=True)
class Command:
    """What `dynascope NAME` is; its module says what it takes and does, once it is asked for."""

    name: str
    help: str
    usage: str = "[option ...]"

    @property
    def module(self) -> str:
        return f"dynascope.cli.{'import_runs' if self.name == 'import' else self.name}"


COMMANDS = (
    Command("demo", "train 20 seeds of the default and look at them"),
    Command("train", "train runs and keep them"),
    Command(
        "sweep",
        "train a grid of runs; resume it, extend it, spread it over a cluster",
        "GRID --out FOLDER [option ...]",
    ),
    Command(
        "report", "report what happened in runs: circuit, phases, spikes", "FOLDER [option ...]"
    ),
    Command("show", "show runs in the browser", "FOLDER [option ...]"),
    Command("export", "write the sandbox with a run to one file", "RUN [RUN] -o FILE [option ...]"),
    Command("movie", "make a film of a run", "RUN -o FILE [option ...]"),
    Command("figure", "draw runs for papers", "LAYOUT RUN ... -o FILE [option ...]"),
    Command("study", "check the paper's claims, and write a report", "NAME ... | all [option ...]"),
    Command("query", "query runs with SQL", "FOLDER SQL [option ...]"),
    Command("tag", "tag runs, or remove a tag", "RUNS NAME [option ...]"),
    Command("note", "write a note about runs", "RUNS TEXT [option ...]"),
    Command("delete", "hide runs", "RUNS [option ...]"),
    Command("restore", "bring deleted runs back", "RUNS [option ...]"),
    Command("merge", "merge several folders into one", "FOLDER ... --out FOLDER"),
    Command("check", "look for damage in a folder of runs", "FOLDER [option ...]"),
    Command("import", "read runs that the paper's own code saved", "FOLDER ... --out FOLDER"),
)


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options of the command that was asked for; `run` is the function that carries it out.

    Only the module of that command is imported: `dynascope demo` does not wait for Arrow.
    """
    top = _Parser(prog="dynascope", description=_ABOUT, epilog=_EXAMPLES)
    top.add_argument(
        "--version", action="store_true", help="print the version and the instruction set"
    )
    top.set_defaults(run=lambda options: _no_command(top, options))
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    name = arguments[0] if arguments else ""
    names = [command.name for command in COMMANDS]
    if name and not name.startswith("-") and name not in names:
        raise unknown("", name, names, kind="command")
    parsers = {command.name: _parser_of(command, commands, name) for command in COMMANDS}
    options, rest = top.parse_known_args(arguments)
    if rest:
        raise parsers.get(name, top).unexpected(rest[0])
    _check_threads(options)
    return options


def _parser_of(command: Command, commands: Any, wanted: str) -> "_Parser":
    if command.name != wanted:
        parser: _Parser = commands.add_parser(command.name, help=command.help)
        return parser
    module = import_module(command.module)
    parser = commands.add_parser(
        command.name,
        help=command.help,
        description=module.ABOUT,
        epilog=module.EXAMPLES,
        usage=f"dynascope {command.name} {command.usage}".rstrip(),
    )
    parser.set_defaults(run=module.run)
    module.add_options(parser)
    return parser


class _Parser(argparse.ArgumentParser):
    """argparse, with errors in one sentence that offers what was probably meant."""

    def __init__(self, **settings: object) -> None:
        super().__init__(
            allow_abbrev=False,  # an abbreviation today is another option's name tomorrow
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **settings,  # type: ignore[arg-type]
        )

    def error(self, message: str) -> NoReturn:
        required = message.removeprefix("the following arguments are required: ")
        what = f"{required}: missing" if required != message else message.removeprefix("argument ")
        raise DynascopeError(f"{what}; see {self.prog} --help.")

    def print_help(self, file: Any = None) -> None:
        """argparse would swallow an error of the stream."""
        print(*self.format_help().splitlines(), file=file)

    def unexpected(self, argument: str) -> DynascopeError:
        """The error for an argument that no option takes."""
        if not argument.startswith("-"):
            what = "unexpected argument"
            return DynascopeError(f"{shown(argument)}: {what}; see {self.prog} --help.")
        options = re.findall(r"^  (?:-h, )?(--[a-z-]+)", self.format_help(), re.MULTILINE)
        return unknown("", argument.partition("=")[0], options)


def number(text: str) -> int | str:
    return int(text) if re.fullmatch(r"-?[0-9]{1,9}", text) else text


def add_workers(group: "argparse._ArgumentGroup") -> None:
    """The options of what can be computed here or on a cluster."""
    group.add_argument("--threads", metavar="N", type=number, help="(default: one for each core)")
    group.add_argument(
        "--ray",
        metavar="WHERE",
        help="auto ($RAY_ADDRESS, or a cluster on this machine), an ADDRESS, or local",
    )


def _check_threads(options: argparse.Namespace) -> None:
    """Here for all commands: further on, it would be an argument of a function of that name."""
    if getattr(options, "threads", None) is not None:
        from dynascope.engine import check_threads

        check_threads(options.threads, "--threads")


def _no_command(top: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    if options.version:
        from dynascope import _kernel

        print(f"dynascope {version.__version__} ({_kernel.isa()})")
    else:
        top.print_help()
    return 0

"""What can be typed after `dynascope`, and the help that teaches it.

Options hold text as it was typed. What it must look like is said once, where the value is used
(`parse_seeds`, the config, the engine), so the sentence about a wrong one is the same everywhere.
"""

import argparse
import re
from typing import NoReturn

from dynascope.cli.demo import run as run_demo
from dynascope.cli.train import run as run_train
from dynascope.errors import DynascopeError, shown, unknown

_ABOUT = """\
A laboratory for watching transformers learn: train thousands of tiny ones in
seconds, and keep every epoch of every run."""

_EXAMPLES = """\
examples:
  dynascope demo
  dynascope train --seeds 100 --out runs/first
  dynascope train --help
"""

_TRAIN = """\
Train one run per seed. A seed gives the same weights on every machine and with
any number of threads. Ctrl-C stops early and keeps the runs that are finished."""

_TRAIN_EXAMPLES = """\
A RUN is FOLDER#seed=3 or FOLDER#ID, where the beginning of an id is enough, or
just FOLDER if that holds a single run; RUN@250 is what it was at epoch 250.

examples:
  dynascope train --seeds 100 --out runs/first
  dynascope train --seeds 3,5,8 --set model.dim=3 --set training.lr=1e-2
  dynascope train --options > my.toml; dynascope train --config my.toml
  dynascope train --from runs/first#seed=3 --set task.vocab=3 --out runs/three
  dynascope train --from runs/first#seed=3 --continue --epochs 2000 --out on
"""


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options of the command that was asked for; `run` is the function that carries it out."""
    top = _Parser(prog="dynascope", description=_ABOUT, epilog=_EXAMPLES)
    top.add_argument("--version", action="store_true", help="the version and instruction set")
    top.set_defaults(run=lambda options: _no_command(top, options))
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    parsers = {
        "demo": commands.add_parser(
            "demo",
            help="train 20 seeds of the default and look at them",
            description="Train 20 seeds of the default and print how each of them ended.",
        ),
        "train": commands.add_parser(
            "train",
            help="train runs and keep them",
            description=_TRAIN,
            epilog=_TRAIN_EXAMPLES,
            usage="dynascope train [option ...]",
        ),
    }
    parsers["demo"].set_defaults(run=run_demo)
    parsers["train"].set_defaults(run=run_train)
    _add_train_options(parsers["train"])
    name = arguments[0] if arguments else ""
    if name and not name.startswith("-") and name not in parsers:
        raise unknown("", name, parsers, kind="command")
    options, rest = top.parse_known_args(arguments)
    if rest:
        raise parsers.get(name, top).unexpected(rest[0])
    return options


def _add_train_options(train: argparse.ArgumentParser) -> None:
    what = train.add_argument_group("what to train")
    what.add_argument(
        "--seeds",
        help="how many (20 means 0 to 19), or which: 3,5,8 or 10-19; for one alone, end with "
        "a comma: 7, (default: 1, or with --from the seed of that run)",
    )
    what.add_argument("--config", metavar="FILE", help="options from a TOML file")
    what.add_argument(
        "--set",
        metavar="NAME=VALUE",
        dest="settings",
        action="append",
        default=[],
        help="one option, such as model.dim=3; may be repeated",
    )
    what.add_argument(
        "--epochs",
        metavar="N",
        dest="settings",
        action="append",
        type=lambda text: f"training.epochs={text}",  # so the last of --epochs and --set counts
        help="short for --set training.epochs=N",
    )
    what.add_argument(
        "--options",
        action="store_true",
        help="train nothing: print all options and their values, as a file for --config",
    )
    source = train.add_argument_group("starting from another run")
    source.add_argument(
        "--from",
        metavar="RUN[@EPOCH]",
        dest="source",
        help="fine-tune from its weights, with its options where none are given",
    )
    source.add_argument(
        "--continue",
        dest="go_on",
        action="store_true",
        help="with --from: go on past its last epoch instead, up to --epochs in all",
    )
    how = train.add_argument_group("how")
    how.add_argument("--threads", metavar="N", type=_number, help="(default: one for each core)")
    how.add_argument("--out", metavar="FOLDER", help="keep the runs in a new folder")
    how.add_argument("--quiet", action="store_true", help="print nothing but errors")


class _Parser(argparse.ArgumentParser):
    """argparse, with errors in one sentence that offers what was probably meant."""

    def __init__(self, **settings: object) -> None:
        super().__init__(
            allow_abbrev=False,  # an abbreviation today is another option's name tomorrow
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **settings,  # type: ignore[arg-type]
        )

    def error(self, message: str) -> NoReturn:
        raise DynascopeError(f"{message.removeprefix('argument ')}; see {self.prog} --help.")

    def unexpected(self, argument: str) -> DynascopeError:
        """The error for an argument that no option takes."""
        if not argument.startswith("-"):
            what = "expected an option before it, such as --seeds"
            return DynascopeError(f"{shown(argument)}: {what}; see {self.prog} --help.")
        options = re.findall(r"^  (?:-h, )?(--[a-z]+)", self.format_help(), re.MULTILINE)
        return unknown("", argument.partition("=")[0], options)


def _number(text: str) -> int | str:
    return int(text) if re.fullmatch(r"-?[0-9]{1,9}", text) else text


def _no_command(top: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    if options.version:
        from dynascope import __version__, _kernel

        print(f"dynascope {__version__} ({_kernel.isa()})")
    else:
        top.print_help()
    return 0

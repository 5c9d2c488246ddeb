"""The command line in tests: short runs, commands as processes, what they leave."""

import subprocess
from pathlib import Path

from processes import COMMAND, environment, finished
from sweeping import bits

import dynascope as ds

SHORT = {"training.epochs": 20, "record.weights_every": 5, "record.state_every": 10}

ENVIRONMENT = environment("COLUMNS", "FORCE_COLOR", PYTHONIOENCODING="utf-8")


def short(**changes: object) -> ds.Config:
    """A config of few epochs; `__` stands for the dot of an option's name."""
    return ds.Config().replace(SHORT | {k.replace("__", "."): v for k, v in changes.items()})


def settings(config: ds.Config) -> list[str]:
    """The command-line options that make the short config."""
    named = {
        f"{name}={getattr(getattr(config, s), o)}" for name in SHORT for s, o in [name.split(".")]
    }
    return [word for setting in sorted(named) for word in ("--set", setting)]


def dynascope(*arguments: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    return finished([*COMMAND, *arguments], cwd=folder, env=ENVIRONMENT)


def same(a: ds.Run, b: ds.Run) -> bool:
    """Bit for bit: curves, kept weights, kept states, and the name."""
    return bits(a) == bits(b)


def files(folder: Path) -> dict[str, int]:
    """Everything below a folder, and when it was changed."""
    return {str(path): path.lstat().st_mtime_ns for path in sorted(folder.rglob("*"))}

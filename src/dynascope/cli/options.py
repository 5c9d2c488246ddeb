"""The options of a run from file and command line, and all of them as a TOML file."""

import json
from collections.abc import Sequence

from dynascope.config import OPTIONS, Config, parse_setting
from dynascope.errors import DynascopeError
from dynascope.option_tables import read_toml


def configured(base: Config, file: str | None, settings: Sequence[str]) -> Config:
    """`base` with the options of a TOML file on top, and those of `--set` on top of these."""
    config = base if file is None else _with_file(base, file)
    return config.replace(dict(parse_setting(setting) for setting in settings))


def _with_file(base: Config, file: str) -> Config:
    tables = base.to_dict()
    try:
        for name, value in read_toml(file).items():
            if isinstance(value, dict) and isinstance(tables.get(name), dict):
                tables[name] |= value
            else:
                tables[name] = value
        return Config.from_dict(tables)
    except DynascopeError as error:
        raise DynascopeError(f"{file}: {error}") from None


def listing(config: Config) -> str:
    """Every option with its value and, as a comment, what it accepts; TOML that gives `config`.

    TOML has no word for none: such an option stands in a comment.
    """
    tables = config.to_dict()
    lines = []
    at = ""
    for name in sorted(OPTIONS, key=lambda name: "." in name):  # TOML wants the bare names first
        section, _, option = name.rpartition(".")
        if section != at:
            lines += ["", f"[{section}]"]
            at = section
        value = (tables[section] if section else tables)[option]
        setting = f"{option} = {json.dumps(value)}" if value is not None else f"# {option} = none"
        lines.append(f"{setting:26} # {OPTIONS[name].what}")
    return "\n".join(lines)

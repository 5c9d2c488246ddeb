"""A later version of the package, in a process of its own: with options, values and curves that
this one does not have.

The code is this version's own. Only its declarations are changed, before anything reads them: the
dataclasses of the options, the table `LATER` of as-before values, and the kernel's list of curves.
"""

import json
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dynascope

AS_BEFORE = {"task.noise": 0.0, "training.lookahead": 1, "training.shrink": None, "drift": False}
NEW_CURVE = "weight_norm/query"

_DECLARED = """
import importlib, json, sys
from dataclasses import make_dataclass
from types import ModuleType
from typing import Annotated, Literal, get_args, get_type_hints

package = ModuleType("dynascope")  # an empty one, so that only declarations are imported
package.__path__ = [{path!r}]
sys.modules["dynascope"] = package
kernel = importlib.import_module("dynascope._kernel")
kernel.CURVE_NAMES = (*kernel.CURVE_NAMES, {curve!r})
config = importlib.import_module("dynascope.config")
tables = importlib.import_module(config.options_of.__module__)
rules = importlib.import_module(config.Real.__module__)


def extended(cls, *options):
    return make_dataclass(cls.__name__, options, bases=(cls,), frozen=True, kw_only=True)


activations = get_args(get_type_hints(config.ModelConfig, include_extras=True)["activation"])
config.TaskConfig = extended(
    config.TaskConfig, ("noise", Annotated[float, rules.Real(0)], 0.0)
)
config.ModelConfig = extended(
    config.ModelConfig, ("activation", Literal[(*activations, "snake")], "gelu")
)
config.TrainingConfig = extended(
    config.TrainingConfig,
    ("lookahead", Annotated[int, rules.Whole(1, 9)], 2),  # not what it was before
    ("shrink", Annotated[float, rules.Real(0)] | None, None),
)
config.Config = extended(
    config.Config,
    ("task", config.TaskConfig, config.TaskConfig()),
    ("model", config.ModelConfig, config.ModelConfig()),
    ("training", config.TrainingConfig, config.TrainingConfig()),
    ("drift", bool, False),
)
config.OPTIONS = tables.options_of(config.Config)
config.LATER = {{**config.LATER, **{before!r}}}
del sys.modules["dynascope"]

import dynascope as ds

given = json.loads(sys.argv[1])
"""


def run_later(code: str, **given: Any) -> Any:
    """What `code` prints, as JSON, when a later version runs it; it finds `ds` and `given`."""
    declared = _DECLARED.format(
        path=str(Path(dynascope.__file__).parent), curve=NEW_CURVE, before=dict(AS_BEFORE)
    )
    done = subprocess.run(
        [sys.executable, "-c", declared + textwrap.dedent(code), json.dumps(given)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def nested(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options under dotted names as tables."""
    tables: dict[str, Any] = {}
    for name, value in options.items():
        section, _, option = name.rpartition(".")
        (tables.setdefault(section, {}) if section else tables)[option] = value
    return tables

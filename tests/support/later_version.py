"""A later version of the package, in a process of its own: with options, values and curves that
this one does not have.

The code is this version's own. Only the kernel's table is longer, before anything reads it.
"""

import json
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dynascope

AS_BEFORE = {"task.noise": 0.0, "training.lookahead": 1, "training.shrink": None}
NEW_CURVE = "bend"
NEW_ACTIVATION = "snake"


def _option(name: str, kind: str, default: Any, **more: Any) -> dict[str, Any]:
    row = {"name": name, "kind": kind, "optional": False, "default": default, "kept": True}
    return {**row, "meaning": "", "as_before": AS_BEFORE[name], **more}


_TABLE = {
    "options": [
        _option("task.noise", "real", 0.0, low=0, high=None, above=False),
        _option("training.lookahead", "whole", 2, low=1, high=9),  # not what it was before
        _option("training.shrink", "real", None, low=0, high=None, above=False, optional=True),
    ],
    "curves": [{"name": NEW_CURVE, "each": True, "needs": "", "meaning": "its length"}],
}
_DECLARED = """
import importlib, json, sys
from types import ModuleType

given, more = json.loads(sys.argv[1]), json.loads(sys.argv[2])
package = ModuleType("dynascope")  # an empty one, so that nothing but the kernel is imported
package.__path__ = [more["path"]]
sys.modules["dynascope"] = package
kernel = importlib.import_module("dynascope._kernel")
table = json.loads(kernel.catalog())
for part, rows in more["table"].items():
    table[part] += rows
activation = next(row for row in table["options"] if row["name"] == "model.activation")
activation["words"].append(more["activation"])
kernel.catalog = lambda: json.dumps(table)
names = [row["name"] for row in table["parameters"]]
kernel.CURVE_NAMES = (*kernel.CURVE_NAMES, *(f"{more['curve']}/{name}" for name in names))
# What it does with the options does not matter here: training is as before.
new = {row["name"].rpartition(".")[2] for row in more["table"]["options"]}
training = kernel.Training
kernel.Training = lambda options: training({k: v for k, v in options.items() if k not in new})
del sys.modules["dynascope"]

import dynascope as ds
"""


def run_later(code: str, **given: Any) -> Any:
    """What `code` prints, as JSON, when a later version runs it; it finds `ds` and `given`."""
    path = str(Path(dynascope.__file__).parent)
    more = {"path": path, "table": _TABLE, "activation": NEW_ACTIVATION, "curve": NEW_CURVE}
    script = _DECLARED + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(given), json.dumps(more)],
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

"""Imports go downwards only, by layer, wherever in a module they stand; modules form no circle.

Modules are read, not run: an import within a function counts like one at the top, and so does
`import_module` with a name that begins with ours. For layers also those count that only the type
checker sees, for circles they do not: two classes of a layer may name each other in annotations
(`Run.trainer() -> Trainer`, `Trainer.run -> Run`).
"""

from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter

import pytest
from package_source import IMPORTS, MODULES, TEXTS, Import, hidden_imports, imports_of

# From the bottom up. A name stands for a module or for all of a package.
LAYERS = (
    (
        *(
            "platforms",
            "printing",
            "errors",
            "extras",
            "version",
            "cached",
            "one_thread",
            "one_blas_thread",
            "glossary",
            "number_text",
            "plain",
            "figure_layouts",
            "share_interval",
            "claim_verdicts",
        ),
        *(
            "progress",
            "seeds",
            "memory",
            "starting",
            "new_file",
            "offline_page",
            "theme",
            "notebook_display",
        ),
    ),
    ("analysis_columns", "analysis_row"),
    ("_kernel", "kernel_loading", "catalog"),
    ("option_words", "near_misses"),
    (
        "option_rules",
        "option_sections",
        "option_tables",
        "frozen_weights",
        "clamped_values",
        "config",
    ),
    ("config_input", "run_places"),
    ("data", "parameters", "tasks", "model", "projection", "torch"),
    ("edits", "run_size", "run_cost", "services", "curves", "run", "stopped", "tape", "trainer"),
    ("shown_prefixes", "shown_sequences"),
    ("engine",),
    ("second_order", "optimizer_metric", "sharpness", "replay", "epoch_replay"),
    ("store",),
    ("analysis",),
    ("theory",),
    ("findings",),
    ("sweeps",),
    ("plots",),
    ("notebook",),
    ("sandbox",),
    ("studies",),
    ("cli", "__main__"),
    ("wiring", "__init__"),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def upward(found: Import) -> bool:
    return LEVEL[found.importer.split(".")[0]] < LEVEL[found.imported.split(".")[0]]


def circle(imports: Iterable[Import]) -> list[str]:
    """Modules that import each other in a circle, if any do."""
    graph: dict[str, set[str]] = {}
    for each in imports:
        if not each.for_types and each.importer != each.imported:
            graph.setdefault(each.importer, set()).add(each.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_every_module_has_a_layer() -> None:
    assert {name.split(".")[0] for name in MODULES} <= set(LEVEL)
    assert len(LEVEL) == sum(map(len, LAYERS))


def test_imports_go_downwards() -> None:
    assert len(IMPORTS) > 500
    assert [str(each) for each in IMPORTS if upward(each)] == []


def test_modules_form_no_circle() -> None:
    assert circle(IMPORTS) == []


LAZY = "\n\ndef added():\n    from dynascope.{} import anything\n"
AT_TOP = "\nimport dynascope.{}\n"
BY_NAME = "\nmodule = import_module('dynascope.{}')\n"
FOR_TYPES = "\nif TYPE_CHECKING:\n    from dynascope import {}\n"


@pytest.mark.parametrize(
    "addition", [LAZY, AT_TOP, BY_NAME, FOR_TYPES], ids=["lazy", "at-top", "by-name", "for-types"]
)
@pytest.mark.parametrize(
    ("importer", "imported"), [("run", "store"), ("store.index", "cli"), ("config", "engine")]
)
def test_an_upward_import_is_found(addition: str, importer: str, imported: str) -> None:
    text = TEXTS[importer] + addition.format(imported)
    assert [each.imported for each in imports_of(importer, text) if upward(each)] == [imported]


def test_a_circle_within_a_layer_is_found() -> None:
    text = TEXTS["run"] + LAZY.format("trainer")
    rest = [each for each in IMPORTS if each.importer != "run"]
    assert {"run", "trainer"} <= {*circle([*rest, *imports_of("run", text)])}


# The package's own lists of modules, at the top of all layers; and whether Ray is there already.
SEEN = {"__init__": 1, "cli.arguments": 1, "sweeps.ray_connection": 1}


def test_no_import_is_hidden() -> None:
    hidden = {name: len([*hidden_imports(text)]) for name, text in TEXTS.items()}
    assert {name: count for name, count in hidden.items() if count} == SEEN


@pytest.mark.parametrize(
    "line",
    [
        "import_module(where)",
        "import_module('dynascope.' + where)",
        "import_module(f'{__package__}.store')",
        "import_module('.store', 'dynascope')",
        "import_module(name='dynascope.store')",
        "from importlib import import_module as other",
        "__import__('dynascope.store')",
        "exec('import dynascope.store')",
        "sys.modules['dynascope.store']",
        "import runpy",
        "from pkgutil import resolve_name",
    ],
)
def test_a_hidden_import_is_found(line: str) -> None:
    assert len([*hidden_imports(TEXTS["run"] + f"\n{line}\n")]) >= 1

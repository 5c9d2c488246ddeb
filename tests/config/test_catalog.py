"""The kernel's table, and what follows from it: rules, limits, generated files."""

import importlib.machinery
import importlib.util
import json
import math
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from refusals import beyond

import dynascope as ds
from dynascope import _kernel, catalog
from dynascope.config import OPTIONS

ROOT = Path(__file__).parents[2]
SECTIONS = {"model": ds.ModelConfig, "training": ds.TrainingConfig}
KEPT = [option for option in catalog.OPTIONS.values() if option.kept]


def in_kernel(option: catalog.Option, value: Any) -> None:
    """The option's section with this value, given to the extension as it is."""
    tables = ds.Config().to_dict()
    section = tables[option.section] | {option.short: value}
    if option.section == "model":
        _kernel.Shape(vocab=2, length=12, model=section)
    else:
        _kernel.Training(section)


@pytest.mark.parametrize("option", catalog.OPTIONS.values(), ids=lambda option: option.name)
def test_defaults_keep_to_their_limits(option: catalog.Option) -> None:
    assert OPTIONS[option.name].check(option.name, option.default) == getattr(
        ds.Config() if not option.section else getattr(ds.Config(), option.section), option.short
    )
    assert option.meaning


@pytest.mark.parametrize("option", KEPT, ids=lambda option: option.name)
def test_python_and_the_extension_refuse_the_same(option: catalog.Option) -> None:
    for value in beyond(option):
        with pytest.raises(ds.DynascopeError, match=option.name):
            OPTIONS[option.name].check(option.name, value)
        with pytest.raises((ValueError, TypeError)):
            in_kernel(option, value)


@pytest.mark.parametrize("option", KEPT, ids=lambda option: option.name)
def test_python_and_the_extension_take_the_same(option: catalog.Option) -> None:
    """The limits themselves, and every word."""
    values: list[Any] = [option.default, *option.words]
    if option.kind == "words":
        values = [[], list(option.words)]
    if option.kind in ("whole", "real") and not option.above:
        values.append(option.low)
    if option.kind == "whole":
        values.append(int(option.high or 0))
    if option.kind == "real":
        below = math.inf if option.high is None else option.high
        values.append(math.nextafter(below, 0))
    for value in values:
        OPTIONS[option.name].check(
            option.name, int(value) if option.kind == "whole" and value else value
        )
        in_kernel(option, value)


def test_names_are_said_once() -> None:
    lists = (catalog.PARAMETERS, catalog.STAGES, catalog.MEASURES, catalog.OPTIONS)
    table = json.loads(_kernel.catalog())
    assert [len(each) for each in lists] == [
        len(table[name]) for name in ("parameters", "stages", "measures", "options")
    ]
    assert [name for curve in catalog.CURVES for name in curve.names] == list(_kernel.CURVE_NAMES)
    steps = [name for curve in catalog.STEP_CURVES for name in curve.names]
    assert steps == list(_kernel.STEP_CURVE_NAMES)


def test_a_missing_option_is_named() -> None:
    with pytest.raises(ValueError, match=r"model\.dim"):
        _kernel.Shape(vocab=2, length=12, model={})


# ---- generated files ----------------------------------------------------------------------------
@pytest.fixture
def generate() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("generate", str(ROOT / "scripts/generate"))
    spec = importlib.util.spec_from_loader("generate", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_generated_files_are_up_to_date(
    generate: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["generate", "--check"])
    assert generate.main() == 0


@pytest.mark.parametrize("name", ["STUB", "NAMES"])
def test_a_file_that_differs_is_named(
    name: str,
    generate: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    original: Path = getattr(generate, name)
    changed = tmp_path / original.name
    changed.write_text(original.read_text().replace("hidden", "hiden"))
    monkeypatch.setattr(generate, name, changed)
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")  # whose headings it looks up
    monkeypatch.setattr("sys.argv", ["generate", "--check"])
    assert generate.main() == 1
    assert original.name in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["generate"])
    assert generate.main() == 0
    assert changed.read_text() == original.read_text()

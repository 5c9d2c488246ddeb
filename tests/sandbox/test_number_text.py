"""Shares in words: never rounded to certainty, and the same on the command line as on the page."""

import json
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from variant import ROOT, tool

from dynascope.number_text import MISSING, fraction, percent, significant

PLACES = (0, 1, 2, 3)
SHARES = st.floats(0, 1, allow_subnormal=True)


def value_of(text: str) -> float:
    """The number in a text; of a percentage, the share."""
    number = float(text.strip("<>%"))
    return number / 100 if text.endswith("%") else number


@pytest.mark.parametrize("told", [percent, fraction])
@given(share=SHARES, places=st.sampled_from(PLACES))
def test_what_is_told_of_a_share_is_true(told, share: float, places: int) -> None:  # type: ignore[no-untyped-def]
    text = told(share, places)
    assert (value_of(text) == 1 and text[0] != "<") == (share == 1)
    assert (value_of(text) == 0 and text[0] != ">") == (share == 0)
    unit = 10.0 ** -(places + 2 * (told is percent))
    if text[0] == ">":
        assert value_of(text) < share < 1
    elif text[0] == "<":
        assert 0 < share < value_of(text)
    else:
        assert abs(value_of(text) - share) <= 0.5001 * unit


@given(a=SHARES, b=SHARES, places=st.sampled_from(PLACES))
def test_a_larger_share_is_never_told_as_a_smaller_one(a: float, b: float, places: int) -> None:
    low, high = sorted((a, b))
    assert value_of(percent(low, places)) <= value_of(percent(high, places))


@given(st.floats(0, 1e6, exclude_min=True), st.integers(2, 8))
def test_a_number_below_one_is_not_told_as_one(value: float, digits: int) -> None:
    if value < 1:
        assert significant(value, digits) != "1"
    else:
        assert significant(value, digits) == f"{value:.{digits}g}"


def cases() -> list[float]:
    """All over [0, 1], ties and their neighbours, ends, counts of sequences, and beyond."""
    rng = np.random.default_rng(0)
    ties = [i / 2000 for i in range(2001)]
    near = [math.nextafter(tie, way) for tie in ties for way in (0, 1)]
    counts = [n / 2048 for n in (0, 1, 2, 3, 1024, 2045, 2046, 2047, 2048)]
    single = [float(np.float32(share)) for share in rng.random(500)]
    small = [10.0**-k for k in range(1, 320, 7)]
    beyond = [-0.0, -1e-9, -0.3, -12.25, 1 + 1e-12, 1.2, 31.99996, 1e9, 1.1e9, -1e17, 1e308]
    close = [1 - each for each in small]
    return [*rng.random(2000), *ties, *near, *counts, *single, *small, *close, *beyond]


def test_the_page_says_what_python_says(tmp_path: Path) -> None:
    web, bundle = ROOT / "web", tmp_path / "number-text.mjs"
    esbuild = [str(web / "node_modules/.bin/esbuild"), "src/model/number-text.ts"]
    subprocess.run([*esbuild, "--format=esm", f"--outfile={bundle}"], cwd=web, check=True)
    given = cases()
    (tmp_path / "cases.json").write_text(json.dumps(given))
    script = f"""
        import {{ readFileSync }} from "node:fs";
        import {{ percent }} from {json.dumps(bundle.as_uri())};
        const cases = JSON.parse(readFileSync({json.dumps(str(tmp_path / "cases.json"))}, "utf8"));
        const told = {json.dumps(PLACES)}.map((places) => cases.map((x) => percent(x, places)));
        console.log(JSON.stringify(told));"""
    command = [tool("node"), "--input-type=module", "--eval", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for places, told in zip(PLACES, json.loads(done.stdout), strict=True):
        wanted = [
            percent(share, places).replace(MISSING, "–")
            if abs(share) > 1e9
            else percent(share, places)
            for share in given
        ]  # a page's dash is longer
        assert [*zip(given, told, strict=True)] == [*zip(given, wanted, strict=True)]

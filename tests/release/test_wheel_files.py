"""What must be in a wheel, tried with wheels that lack it."""

import zipfile
from pathlib import Path

import pytest
from wheel_files import HELD, LARGEST, faults

NAME = "dynascope-0.1.0-cp311.cp312-abi3.cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
ABOUT = "dynascope-0.1.0.dist-info/METADATA"
WHOLE = {
    **{name.replace("*", "dynascope-0.1.0"): b"" for name in HELD},
    "dynascope/_kernel.abi3.so": b"",
    "dynascope/_kernel.cpython-311-x86_64-linux-gnu.so": b"",
    ABOUT: b"Name: dynascope\nLicense-Expression: MIT\n",
}


def wheel(folder: Path, contents: dict[str, bytes]) -> Path:
    made = folder / NAME
    with zipfile.ZipFile(made, "w") as opened:
        for name, data in contents.items():
            opened.writestr(name, data)
    return made


def test_a_whole_one(tmp_path: Path) -> None:
    assert faults(wheel(tmp_path, WHOLE)) == []


@pytest.mark.parametrize("missing", [name for name in WHOLE if name != ABOUT])
def test_what_is_missing_is_named(missing: str, tmp_path: Path) -> None:
    (told,) = faults(wheel(tmp_path, {k: v for k, v in WHOLE.items() if k != missing}))
    assert "_kernel" in told or Path(missing).name in told


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"tests/test_model.py": b""}, "tests is no part of dynascope"),
        ({ABOUT: b"Name: dynascope\n"}, "its licence is said to be None"),
        ({"dynascope/large": bytes(LARGEST + 1)}, "it has 10.0 MB, more than 10"),
        ({"dynascope/_kernel.cpython-312.so": b""}, "expected 2 extensions"),
    ],
)
def test_what_is_wrong_is_told(more: dict[str, bytes], told: str, tmp_path: Path) -> None:
    (found,) = faults(wheel(tmp_path, {**WHOLE, **more}))
    assert told in found

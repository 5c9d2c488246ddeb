"""The changelog fits the version, and `scripts/release` says what does not."""

import shutil
import sys
from pathlib import Path

import pytest
from changelog import faults, version_of
from processes import finished
from running import ROOT

from dynascope.version import __version__

DATED = "## [0.2.0] - 2027-01-31\n\n### Added\n\n- Films.\n"


def test_ours_fits() -> None:
    source = (ROOT / "src/dynascope/version.py").read_text(encoding="utf-8")
    assert version_of(source) == __version__
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert faults(__version__, text, released=False) == []


@pytest.mark.parametrize(
    ("version", "text", "released", "told"),
    [
        ("0.2.0", DATED, True, ""),
        ("0.2.0", DATED, False, ""),
        ("0.2", DATED, False, "expected a version like 1.2.3, but got '0.2'"),
        (
            "0.2.0",
            DATED.replace(" - 2027-01-31", ""),
            True,
            "expected ' - YEAR-MONTH-DAY' after it",
        ),
        ("0.2.0", DATED.replace("2027", "27"), True, "expected ' - YEAR-MONTH-DAY' after it"),
        ("0.2.0", DATED.replace("- Films.", ""), True, "'[0.2.0]' lists no change"),
        ("0.3.0", DATED, True, "no section '## [0.3.0] - YEAR-MONTH-DAY'"),
        ("0.3.0", DATED, False, "nor one 'Unreleased' that says it will be 0.3.0"),
        ("0.3.0", f"## [Unreleased]\nThis will be 0.3.0.\n{DATED}", False, "lists no change"),
        ("0.3.0", f"## [Unreleased]\nThis will be 0.3.0.\n- A.\n{DATED}", False, ""),
        ("0.3.0", f"## [Unreleased]\nThis will be 0.3.0.\n- A.\n{DATED}", True, "no section"),
        ("0.3.0", "", False, "neither a section"),
    ],
)
def test_faults(version: str, text: str, released: bool, told: str) -> None:
    found = faults(version, text, released=released)
    assert len(found) == bool(told)
    assert told in "".join(found)


def test_a_release_of_what_is_not_dated_is_refused(tmp_path: Path) -> None:
    """In a copy of what that needs, and before anything is built."""
    for name in ("release", "src/dynascope/version.py"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text(f"## [Unreleased]\nThis will be {__version__}.\n- A.\n")
    done = finished([sys.executable, str(tmp_path / "release/release.py")])
    assert done.returncode == 1
    wanted = f"CHANGELOG.md: no section '## [{__version__}] - YEAR-MONTH-DAY'."
    assert done.stderr == f"release: {wanted}\n"

"""What dynascope's dependencies cost: megabytes installed and downloaded, and seconds to import.

    python benchmarks/dependencies.py           # measure, and print the table of docs/install.md
    python benchmarks/dependencies.py --save    # ... and keep the figures in dependencies.json

Installed: the files that pip recorded, without compiled `.pyc`. Downloaded: the wheel, if it is in
one of the folders named by --wheels; else unknown. Import: the median of nine new processes, minus
that of one which imports nothing (for packages that import NumPy: which imports NumPy).
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_suffix(".json")
TIMES = 9
# Distribution, what a use of it imports, where it is, what needs it.
PACKAGES = (
    ("numpy", "numpy", "core", "every array"),
    ("pyarrow", "pyarrow.parquet", "core", "saving and loading: the store is Parquet"),
    ("rich", "rich.progress", "core", "progress bars and tables in the terminal"),
    ("starlette", "starlette.applications", "core", "`dynascope show`"),
    ("uvicorn", "uvicorn", "core", "`dynascope show`"),
    ("safetensors", "safetensors.numpy", "core", "saving and loading weights"),
    ("threadpoolctl", "threadpoolctl", "core", "one thread for each run"),
    ("duckdb", "duckdb", "`sql`", "`ds.query`, `where`, `--where`"),
    ("scipy", "scipy.stats", "`theory`, `plots`, `study`", "curvature, class maps, intervals"),
    ("matplotlib", "matplotlib.pyplot", "`plots`, `study`", "figures"),
    ("pandas", "pandas", "`pandas`", "`frame`"),
    ("anywidget", "anywidget", "`notebook`", "the sandbox in a notebook"),
    ("ruptures", "ruptures", "none", "nothing any more: only our tests compare with it"),
)


def installed(name: str) -> float:
    """Megabytes of a distribution's files."""
    files = distribution(name).files or []
    paths = [Path(str(file.locate())) for file in files if file.suffix != ".pyc"]
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def downloaded(name: str, folders: list[Path]) -> float | None:
    """Megabytes of its wheel."""
    begin = f"{name}-{distribution(name).version}-"
    found = [path for folder in folders for path in folder.rglob("*.whl")]
    sizes = [path.stat().st_size for path in found if path.name.lower().startswith(begin)]
    return sizes[0] / 1e6 if sizes else None


def seconds(code: str) -> float:
    """Of a new process that runs this, at the median."""
    taken = []
    for _ in range(TIMES):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def measured(folders: list[Path]) -> list[dict[str, Any]]:
    """A row for each package that is installed here."""
    rows, nothing, numpy = [], seconds("pass"), seconds("import numpy")
    for name, module, place, use in PACKAGES:
        try:
            row: dict[str, Any] = {"package": name, "version": distribution(name).version}
        except PackageNotFoundError:
            continue
        base = nothing if name == "numpy" else numpy
        begin = "" if name == "numpy" else "import numpy; "
        taken = max(0.0, seconds(f"{begin}import {module}") - base)
        row |= {"installed": round(installed(name), 1), "downloaded": downloaded(name, folders)}
        rows.append(row | {"import": round(taken, 2), "place": place, "use": use})
    return rows


def tables(rows: list[dict[str, Any]]) -> dict[str, str]:
    """The table of docs/install.md, by its name there."""
    lines = ["| package | MB installed | MB downloaded | seconds to import | where | needed for |"]
    lines += ["|---|---|---|---|---|---|"]
    for row in rows:
        wheel = "-" if row["downloaded"] is None else f"{row['downloaded']:.1f}"
        numbers = f"{row['installed']:.1f} | {wheel} | {row['import']:.2f}"
        lines += [f"| {row['package']} | {numbers} | {row['place']} | {row['use']} |"]
    return {"dependencies": "\n".join(lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--wheels", type=Path, action="append", default=[])
    options = parser.parse_args()
    rows = measured(options.wheels)
    if options.save:
        RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(tables(rows)["dependencies"])


if __name__ == "__main__":
    main()

"""Make one wheel of a platform's two: that of CPython 3.11, and that of 3.12 and all later ones.

    python release/join_wheels.py CP311.whl ABI3.whl -o FOLDER

cibuildwheel makes the two on macOS and Windows (.github/workflows/release.yml). It needs the
package `wheel`, and nothing else of the tools of a release.
"""

import argparse
from pathlib import Path

import wheel_files
from running import fail


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("wheels", nargs=2, type=Path, metavar="WHEEL")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="FOLDER")
    given = parser.parse_args()
    for wheel in given.wheels:
        if not wheel.is_file():
            fail(f"expected two wheels, but there is no file {wheel}.")
    given.out.mkdir(parents=True, exist_ok=True)
    first, second = given.wheels
    made = wheel_files.joined(first, second, given.out.resolve())
    if found := wheel_files.faults(made):
        fail(f"{made.name}: {'; '.join(found)}.")
    print(made)


if __name__ == "__main__":
    main()

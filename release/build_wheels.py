"""Make wheels with everything inside: the kernel for every instruction set, client, WebAssembly.

    scripts/build-wheels                 # Linux on x86_64 and aarch64, and the sdist, into dist/
    scripts/build-wheels x86_64          # one of them
    scripts/build-wheels --kernels       # does the kernel compile and link for macOS and Windows?

They are cross-compiled with the `ziglang` package and checked by auditwheel. You need CPython 3.11
and 3.12 with their C headers; to say where: PYTHON_3_11, PYTHON_3_12.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import wheel_files
import zig_builds
from running import ROOT, fail, module, run


def main() -> None:
    given = _arguments()
    for name in given.processors:
        if name not in zig_builds.LINUX:
            fail(f"expected a processor of {', '.join(zig_builds.LINUX)}, but got '{name}'.")
    out = given.out.resolve()
    if given.kernels:
        kernels_elsewhere()
    else:
        linux(out, given.processors)


def kernels_elsewhere() -> None:
    """The kernel, compiled and linked for platforms whose wheels others make."""
    for name in zig_builds.OTHERS:
        _report(zig_builds.kernel_library(name))


def linux(out: Path, processors: Sequence[str] = ()) -> None:
    """The sdist, and a wheel for each of these processors; all of them, if none is named."""
    out.mkdir(parents=True, exist_ok=True)
    run([ROOT / "scripts/build-web"])
    _report(wheel_files.sdist(out))
    for name in processors or zig_builds.LINUX:
        _report(_wheel(zig_builds.LINUX[name], out))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "scripts/build-wheels", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("processors", nargs="*", help="all, if none is named")
    parser.add_argument("-o", "--out", type=Path, default=ROOT / "dist", metavar="FOLDER")
    parser.add_argument("--kernels", action="store_true", help="only the kernel, elsewhere")
    return parser.parse_args()


def _wheel(target: zig_builds.Target, out: Path) -> Path:
    """The wheel of one processor, which auditwheel finds to hold what its name promises."""
    platform = "manylinux_{}_{}_".format(*zig_builds.GLIBC) + target.processor
    platforms = [platform, f"manylinux2014_{target.processor}"]  # what pip called it before 20.3
    names = {
        f"_kernel.cpython-311-{target.processor}-linux-gnu.so": zig_builds.extension(
            "3.11", target
        ),
        "_kernel.abi3.so": zig_builds.extension("3.12", target),
    }
    with tempfile.TemporaryDirectory() as folder:
        bare = wheel_files.bare_wheel(Path(folder))
        made = wheel_files.with_extensions(bare, names, platforms, out)
    if platform not in (told := run([*module("auditwheel"), "show", made])):
        fail(f"auditwheel does not find {made.name} to be {platform}: {told}")
    if found := wheel_files.faults(made):
        fail(f"{made.name}: {'; '.join(found)}.")
    return made


STARTED = time.monotonic()


def _report(made: Path) -> None:
    size, seconds = made.stat().st_size / 1e6, time.monotonic() - STARTED
    print(f"{made}  {size:.1f} MB, after {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()

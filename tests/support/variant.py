"""Build the package around another build of the kernel: with sanitizers, by another compiler, or
from changed sources.

The Python files are linked, so that `PYTHONPATH=OUT` gives the package as it is with that kernel.
An existing build folder is used again: only what changed is compiled.
"""

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[2]

# An editable install puts a finder of its own before PYTHONPATH: without this, the variant would
# be ignored and the ordinary kernel tested once more.
SITE = """\
import sys

sys.meta_path[:] = [f for f in sys.meta_path if "ScikitBuild" not in type(f).__name__]
"""


def tool(name: str, setup: str = "dev") -> str:
    """A program of the environment that these tests run in, or of the system; `scripts/setup` with
    this argument installs it.
    """
    beside = Path(sysconfig.get_path("scripts")) / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if not found:
        raise SystemExit(f"variant: expected {name} to be installed; run scripts/setup {setup}.")
    return found


def build_variant(
    out: Path, flags: str, isas: str, root: Path = ROOT, compiler: str | None = None
) -> Path:
    """`out` becomes a folder for PYTHONPATH; `root` holds CMakeLists.txt and kernel/. An empty
    `isas` means all of this processor's kind; without `compiler` CMake chooses (CXX, or c++).
    """
    import nanobind

    work = out / "build"
    work.mkdir(parents=True, exist_ok=True)
    configure = [
        *(tool("cmake"), "-G", "Ninja", "-S", str(root), "-B", str(work)),
        f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}",
        f"-Dnanobind_DIR={nanobind.cmake_dir()}",
        f"-DPython_EXECUTABLE={sys.executable}",
        "-DDYNASCOPE_WERROR=ON",
        f"-DDYNASCOPE_ISAS={isas}",
        f"-DDYNASCOPE_EXTRA_FLAGS={';'.join(flags.split())}",
        *([f"-DCMAKE_CXX_COMPILER={compiler}"] if compiler else []),
    ]
    for command in (configure, [tool("cmake"), "--build", str(work)]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"variant: {' '.join(command)} failed:\n{done.stdout}\n{done.stderr}")
    package = out / "dynascope"
    shutil.rmtree(package, ignore_errors=True)
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "src/dynascope", package, ignore=ignored, copy_function=os.symlink)
    for library in work.glob("_kernel*.so"):
        shutil.copy(library, package)
    (out / "sitecustomize.py").write_text(SITE)
    seen = [sys.executable, "-c", "import dynascope._kernel as k; print(k.__file__)"]
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    if "-fsanitize" not in flags:  # such a build cannot be loaded without its runtime
        place = subprocess.check_output(
            seen, env={**environment, "PYTHONPATH": str(out)}, text=True
        )
        assert Path(place.strip()).is_relative_to(out), f"imported {place}, not the variant"
    return out


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--flags", default="", help="compiler and linker flags")
    parser.add_argument("--isas", default="avx2;sse2", help="instruction sets, best first")
    parser.add_argument("--compiler", help="a C++ compiler; CXX or c++ by default")
    given = parser.parse_args()
    build_variant(given.out.resolve(), given.flags, given.isas, compiler=given.compiler)

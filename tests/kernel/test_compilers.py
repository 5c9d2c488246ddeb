"""The same bits from other compilers, in WebAssembly, run by Node, and on ARM, run by QEMU (slow).

The newest Clang and the targets WebAssembly and ARM come with the `ziglang` package; Debian's
Clangs, which people have, and QEMU with `scripts/setup all`. All but WebAssembly, which has none,
are also run under hostile floating-point modes.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fingerprints import fingerprints, in_new_process
from variant import ROOT, build_variant, tool

pytestmark = pytest.mark.slow

ZIG = [sys.executable, "-m", "ziglang", "c++"]
SYSTEM = [os.environ.get("CXX", "c++")]
WASM = ["-target", "wasm32-wasi", "-msimd128", "-fno-exceptions"]
FLAGS = ["-std=c++17", "-ffp-contract=off", "-fno-math-errno", "-I", str(ROOT / "kernel")]

FLOAT_MODES = "kernel/test_float_environment.py"
DEBIAN = ["clang++-14", "clang++-16"]
BUILDS = {
    "system": [*SYSTEM, "-O3"],
    "system, little optimised": [*SYSTEM, "-O1"],
    "clang, avx2": [*ZIG, "-O3", "-target", "x86_64-linux-gnu", "-mcpu=x86_64_v3"],
    "clang, fma and avx-512": [*ZIG, "-O3", "-target", "x86_64-linux-gnu", "-mcpu=x86_64_v4"],
    "wasm": [*ZIG, "-O3", *WASM],
    "arm": [*ZIG, "-O3", "-target", "aarch64-linux-musl", "-static"],
    **{clang: [clang, "-O3", "-march=x86-64-v3"] for clang in DEBIAN},
}
RUN_WASM = """
import { WASI } from 'node:wasi';
import { readFileSync } from 'node:fs';
const wasi = new WASI({ version: 'preview1', args: ['bits'], env: {} });
const module = await WebAssembly.compile(readFileSync(process.argv[2]));
wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));
"""


# Floating-point modes that other libraries may have set, as the control register has them: rounding
# up with subnormals flushed, and to zero; on ARM, then, also with NaNs that lose their payload.
HOSTILE = dict.fromkeys(BUILDS, ("dfc0", "7f80")) | {"arm": ("1400000", "2c00000"), "wasm": ()}


def built(name: str, folder: Path) -> Path:
    """tests/kernel/bits.cpp, built this way."""
    program, objects = folder / "bits", []
    for scalar in ("float", "double"):
        objects.append(str(folder / f"{scalar}.o"))
        defined = ["-DDYNASCOPE_ISA=tested", f"-DDYNASCOPE_SCALAR={scalar}"]
        source = str(ROOT / "kernel/engine.cpp")
        run([*BUILDS[name], *FLAGS, *defined, "-c", source, "-o", objects[-1]])
    for part in ("measures", "curvature"):
        objects.append(str(folder / f"{part}.o"))
        source = str(ROOT / f"kernel/{part}.cpp")
        run([*BUILDS[name], *FLAGS, "-DDYNASCOPE_ISA=tested", "-c", source, "-o", objects[-1]])
    run([*BUILDS[name], *FLAGS, str(ROOT / "tests/kernel/bits.cpp"), *objects, "-o", str(program)])
    return program


def printed(name: str, program: Path, *arguments: str) -> str:
    """What it prints, by whatever can run it here."""
    if name == "arm":
        return run([tool("qemu-aarch64-static", setup="all"), str(program), *arguments])
    if name != "wasm":
        return run([str(program), *arguments])
    script = program.with_name("run.mjs")
    script.write_text(RUN_WASM)
    return run([tool("node"), "--no-warnings", str(script), str(program)])


def run(command: list[str], **environment: str) -> str:
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> str:
    return printed("system", built("system", tmp_path_factory.mktemp("system")))


@pytest.mark.parametrize("name", [name for name in BUILDS if name != "system"])
def test_same_bits(name: str, reference: str, tmp_path: Path) -> None:
    if "avx-512" in name and "avx512f" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this machine has no AVX-512")
    if name in DEBIAN:
        tool(name, setup="all")
    program = built(name, tmp_path)
    assert printed(name, program) == reference
    assert len(reference.split()) == 12  # four hashes of each of three models
    for mode in HOSTILE[name]:
        assert printed(name, program, mode) == reference, mode


@pytest.mark.parametrize("clang", DEBIAN)
def test_the_whole_extension(clang: str, tmp_path: Path) -> None:
    """With every instruction set, and what `bits` does not see: the bindings."""
    build_variant(tmp_path, "", "", compiler=tool(clang, setup="all"))
    variant = {"PYTHONPATH": str(tmp_path), "DYNASCOPE_VARIANT": str(tmp_path)}
    files = [
        str(ROOT / "tests" / name)
        for name in ("training/test_reproducible.py", "kernel/test_twin.py", FLOAT_MODES)
    ]
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow"]
    run([*pytest_, *files], **variant)
    assert in_new_process("t.fingerprints()", **variant) == fingerprints()

"""Cases for the kernel in WebAssembly: written to files, run by one Node process, read back."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from variant import ROOT, tool

WASM = ROOT / "src/dynascope/sandbox/static/kernel.wasm"
_TYPES = {"f4": np.float32, "f8": np.float64, "i4": np.int32, "u1": np.uint8}


class Node:
    """The built module and its wrapper, bundled for Node."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bundle = folder, folder / "kernel.mjs"
        environment = {**os.environ, "PYTHON": sys.executable}
        _call([str(ROOT / "scripts/build-web"), "--wasm-only"], env=environment)
        web = ROOT / "web"
        if not (web / "node_modules/.bin/esbuild").exists():
            _call([tool("npm"), "install", "--no-save", "--no-audit", "--no-fund"], cwd=web)
        esbuild = str(web / "node_modules/.bin/esbuild")
        options = ["--bundle", "--format=esm", "--log-level=error", f"--outfile={self.bundle}"]
        _call([esbuild, str(ROOT / "tests/kernel/wasm/bundle.ts"), *options], cwd=web)

    def run(self, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What each case gives; see tests/kernel/wasm/run.mjs for their kinds."""
        data = bytearray()

        def written(value: object) -> object:
            if not isinstance(value, np.ndarray):
                raise TypeError(f"no way to write a {type(value).__name__}")
            kind = value.dtype.str[1:]
            assert kind in _TYPES, kind
            at = len(data)
            data.extend(np.ascontiguousarray(value).tobytes())
            return {"$": [at, value.size, kind]}

        text = json.dumps(cases, default=written)
        (self.folder / "cases.json").write_text(text)
        (self.folder / "cases.bin").write_bytes(bytes(data))
        script = ROOT / "tests/kernel/wasm/run.mjs"
        _call([tool("node"), str(script), str(self.bundle), str(WASM), str(self.folder)])
        out = (self.folder / "results.bin").read_bytes()

        def read(value: dict[str, Any]) -> Any:
            if "$" not in value:
                return value
            at, count, kind = value["$"]
            return np.frombuffer(out, _TYPES[kind], count, at)

        results: list[dict[str, Any]] = json.loads(
            (self.folder / "results.json").read_text(), object_hook=read
        )
        return results


def _call(command: list[str], **options: Any) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout}\n{done.stderr}"


def same_bits(got: Any, wanted: Any) -> bool:
    """Equal type, size and bits; NaN, of which hardware makes several, equals NaN."""
    got, wanted = np.asarray(got), np.asarray(wanted).ravel()
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return False
    if got.dtype.kind != "f":
        return bool((got == wanted).all())
    whole = np.uint32 if got.dtype.itemsize == 4 else np.uint64
    both_nan = np.isnan(got) & np.isnan(wanted)
    return bool(((got.view(whole) == wanted.view(whole)) | both_nan).all())

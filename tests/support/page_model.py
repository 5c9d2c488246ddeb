"""Asks the page's own TypeScript: a script over web/src/model, bundled and run by Node."""

import json
import subprocess
from pathlib import Path
from typing import Any

from variant import ROOT, tool

_WEB = ROOT / "web"


def ask_page(script: str, question: object, folder: Path) -> Any:
    """What `script` says: TypeScript whose last act is `answer(value)`; `question` is its input.

    Imports are written as from web/test: `import { mix } from "../src/model/colour-space"`.
    """
    entry, bundle = _WEB / "test" / f"asked-{folder.name}.ts", folder / "asked.mjs"
    (folder / "question.json").write_text(json.dumps(question), encoding="utf-8")
    head = f"""
        import {{ readFileSync, writeFileSync }} from "node:fs";
        const given = {json.dumps(str(folder / "question.json"))};
        const question: any = JSON.parse(readFileSync(given, "utf8"));
        const answer = (value: unknown) =>
          writeFileSync({json.dumps(str(folder / "answer.json"))}, JSON.stringify(value));
    """
    options = [
        "--bundle",
        "--format=esm",
        "--platform=node",
        "--target=node20",
        "--log-level=error",
    ]
    root = f"--define:__ROOT__={json.dumps(str(ROOT))}"
    esbuild = [str(_WEB / "node_modules/.bin/esbuild"), "--loader=ts", f"--sourcefile={entry}"]
    _call([*esbuild, *options, root, f"--outfile={bundle}"], head + script)
    _call([tool("node"), str(bundle)])
    return json.loads((folder / "answer.json").read_text(encoding="utf-8"))


def _call(command: list[str], text: str = "") -> None:
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, cwd=_WEB / "test"
    )
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout}\n{done.stderr}"

"""The examples of a page of the documentation, and how they are run: tests/docs/test_docs.py."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from docs_pages import BLOCK, ROOT

from dynascope import _kernel

NOT_RUN = re.compile(r"<!-- not run: \w[^>]*-->\s*\Z")
NEEDS = re.compile(r"<!-- needs: (\w+) -->\s*\Z")


class Block(NamedTuple):
    language: str
    code: str
    line: int  # of the page, before the first of the code
    extra: str  # that it needs, or none
    section: str  # the text since the last heading


def examples(page: Path) -> Iterator[Block]:
    """The blocks that are to be run."""
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        language, code = block.groups()
        ours = language == "python" or (language == "bash" and code.startswith("dynascope "))
        if ours and not NOT_RUN.search(text[: block.start()]):
            before = text[: block.start()]
            needs = NEEDS.search(before)
            section = re.split(r"^#+ ", before, flags=re.M)[-1]
            yield Block(language, code, before.count("\n") + 1, needs[1] if needs else "", section)


def run_page(
    page: Path, python: list[str], variables: dict[str, str], work: Path
) -> "subprocess.CompletedProcess[str]":
    """All examples of a page, by this interpreter, in a new folder."""
    work.mkdir()
    blocks = [(b.language, for_this_machine(b.code), b.line, b.extra) for b in examples(page)]
    return subprocess.run(
        [*python, str(ROOT / "tests/docs/run_page.py"), page.name],
        input=json.dumps(blocks),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
        check=False,
        cwd=work,
        env=variables,
    )


def for_this_machine(code: str) -> str:
    """The pages name the plainest instruction set of most machines: take that of this one."""
    return code.replace("DYNASCOPE_ISA=sse2", f"DYNASCOPE_ISA={_kernel.usable_isas()[-1]}")

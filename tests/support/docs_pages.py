"""The pages of the documentation, and what tests look for in them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
TEXTS = [*PAGES, *(ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md"))]
TEXTS += [ROOT / "tests/QUARANTINE.md", ROOT / "benchmarks/README.md"]
TEXTS += sorted((ROOT / "docs/studies").glob("*.md"))

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`]*`")


def anchors(page: Path) -> set[str]:
    """What a `#` in a link can name: the headings of a page, as forges spell them."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def prose(page: Path) -> str:
    """A page without its code: what people read as English."""
    return _CODE.sub("", BLOCK.sub("", page.read_text(encoding="utf-8")))

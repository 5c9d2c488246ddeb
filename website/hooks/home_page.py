"""The home page: the README's opening above the index of the documentation.

Somebody who comes to the site has not read the README. Its words and pictures are taken from it, so
that they are written once.
"""

import re

_PARAGRAPHS = re.compile(r"\A# .*?\n\n(.*?)\n\n(.*?)\n\n(<p.*?)(?=^## )", re.MULTILINE | re.DOTALL)
_SANDBOX = re.compile(r'<p align="center">\s*<picture>.*?</p>\s*\*.*?\*\n', re.DOTALL)


def home(template: str, readme: str, index: str) -> str:
    """`template` with the parts of the README in it, then the index, one heading lower."""
    opening, sandbox = _PARAGRAPHS.search(readme), _SANDBOX.search(readme)
    if opening is None or sandbox is None:
        raise ValueError("README.md: expected two paragraphs, a picture and the sandbox's picture.")
    parts = {
        "lead": opening[1],
        "model": opening[2],
        "runs": opening[3].strip(),
        "sandbox": sandbox[0].strip(),
        "start": _section(readme, "Get started"),
    }
    for name, text in parts.items():
        template = template.replace(f"<!-- {name} -->", text)
    return template + re.sub(r"^# ", "## ", index, flags=re.MULTILINE)


def _section(text: str, title: str) -> str:
    """A section's text, without its heading."""
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0].strip()

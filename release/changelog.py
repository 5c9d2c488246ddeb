"""What a changelog says of a version: that it is released, or that it will be.

The version stands in src/dynascope/version.py alone. A release moves what is under `Unreleased`
below a heading of its own, with the day.
"""

import re

_VERSION = re.compile(r"\d+\.\d+\.\d+")
_SECTION = re.compile(r"^## \[(?P<name>[^\]]+)\](?P<rest>.*)\n(?P<body>(?:(?!## ).*\n?)*)", re.M)
_DAY = re.compile(r" - \d{4}-\d\d-\d\d")


def version_of(source: str) -> str:
    """The version that a module's text defines.

    >>> version_of('__version__ = "1.2.3"')
    '1.2.3'
    """
    (found,) = re.findall(r'^__version__ = "([^"]+)"$', source, re.M)
    return str(found)


def faults(version: str, text: str, *, released: bool) -> list[str]:
    """What keeps this version from being released; with `released` its section must be dated.

    >>> faults("0.2.0", "## [Unreleased]\\nThis will be 0.2.0.\\n- Films.\\n", released=False)
    []
    >>> faults("0.2.0", "## [0.1.0] - 2026-01-31\\n- Films.\\n", released=True)
    ["no section '## [0.2.0] - YEAR-MONTH-DAY'"]
    """
    if not _VERSION.fullmatch(version):
        return [f"expected a version like 1.2.3, but got '{version}'"]
    sections = list(_SECTION.finditer(text))
    for section in sections:
        if section["name"] == version:
            return _section_faults(version, section)
    wanted = f"'## [{version}] - YEAR-MONTH-DAY'"
    if released:
        return [f"no section {wanted}"]
    coming = next((section for section in sections if section["name"] == "Unreleased"), None)
    if coming is None or f" {version}" not in coming["body"]:
        return [f"neither a section {wanted} nor one 'Unreleased' that says it will be {version}"]
    return _entry_faults("Unreleased", coming["body"])


def _section_faults(version: str, section: re.Match[str]) -> list[str]:
    dated = _DAY.fullmatch(section["rest"])
    day = [] if dated else [f"'[{version}]': expected ' - YEAR-MONTH-DAY' after it"]
    return day + _entry_faults(version, section["body"])


def _entry_faults(name: str, body: str) -> list[str]:
    return [] if re.search(r"^- \S", body, re.M) else [f"'[{name}]' lists no change"]

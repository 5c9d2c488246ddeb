"""The sandbox's colours and fonts as CSS variables, from the one table that has them."""

import json
from pathlib import Path

TABLE = Path(__file__).parents[2] / "src/dynascope/theme.json"
_SCHEMES = {"light": "default", "dark": "slate"}  # as the site's theme calls them


def palette_css() -> str:
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    fonts = f":root {{ --text: {table['fonts']['text']}; --mono: {table['fonts']['mono']}; }}\n"
    return fonts + "".join(
        f'[data-md-color-scheme="{scheme}"] {{ {_variables(table[name])} }}\n'
        for name, scheme in _SCHEMES.items()
    )


def _variables(colours: dict[str, object]) -> str:
    own = {name: value for name, value in colours.items() if isinstance(value, str)}
    return " ".join(f"--{name}: {value};" for name, value in own.items())

"""The look of cards: the theme's colours as CSS variables, and rules that reach into cards only.

A card has its own background, so it can be read on any page. It is dark where the page says that it
is (JupyterLab, VS Code, Colab, Sphinx) and, where the page says nothing, where the system is.
"""

from functools import cache
from pathlib import Path

from dynascope.notebook.html_tags import Html
from dynascope.theme import theme

_HERE = Path(__file__).parent
_PLAIN = ("panel", "border", "grid", "ink", "quiet", "faint", "accent", "good", "warning", "bad")
_DARK = (
    'body[data-jp-theme-light="false"]',
    "body.vscode-dark",
    "body.vscode-high-contrast:not(.vscode-high-contrast-light)",
    'html[theme="dark"]',
    'html[data-theme="dark"]',
)
_LIGHT = (
    'body[data-jp-theme-light="true"]',
    "body.vscode-light",
    "body.vscode-high-contrast-light",
    'html[theme="light"]',
    'html[data-theme="light"]',
)


def colour(name: str) -> str:
    """A colour of the theme, for an attribute of an SVG; light and dark have their own.

    >>> colour("train")
    'var(--dynascope-train)'
    """
    assert name in colours("light"), name
    return f"var(--dynascope-{name})"


@cache
def colours(scheme: str) -> dict[str, str]:
    """The colours that cards use, by name; `scheme` is light or dark."""
    found = theme()[scheme]
    return {
        **{name: found[name] for name in _PLAIN},
        **found["curves"],
        **found["shares"],
        "token": found["parameters"]["token_embedding"],
        "position": found["parameters"]["position_embedding"],
        **{f"phase-{i}": each for i, each in enumerate(found["phases"])},
    }


@cache
def style() -> Html:
    """The style sheet that every card carries: an output must be readable without the others."""
    light, dark = _variables("light"), _variables("dark")
    rules = (
        f".dynascope-card{{--dynascope-text:{theme()['fonts']['text']};{light}}}",
        f"@media (prefers-color-scheme:dark){{.dynascope-card{{{dark}}}}}",
        f":is({','.join(_LIGHT)}) .dynascope-card{{{light}}}",
        f":is({','.join(_DARK)}) .dynascope-card{{{dark}}}",
        (_HERE / "card.css").read_text(encoding="utf-8"),
    )
    return Html(f"<style>{''.join(rules)}</style>")


def _variables(scheme: str) -> str:
    return ";".join(f"--dynascope-{name}:{value}" for name, value in colours(scheme).items())

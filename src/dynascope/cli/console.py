"""Where tables and paragraphs go: rich's console, for which text is text."""

from typing import Any

from rich.console import Console
from rich.text import Text

from dynascope.printing import printable


class PlainTextConsole(Console):
    """No markup, no emoji codes, and nothing in a text that a terminal would obey.

    rich measures and prints every `str`, cells and headings of tables included, by way of
    `render_str`. Line breaks stay, since paragraphs come wrapped; a text of other people's that
    goes into one is made `printable` before.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **settings)

    def render_str(self, text: str, **settings: Any) -> Text:
        safe = "\n".join(map(printable, text.split("\n")))
        return super().render_str(safe, **settings)

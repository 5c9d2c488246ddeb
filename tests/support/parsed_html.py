"""HTML as a browser would take it apart: whether it is well-formed, and what is in it."""

from html.parser import HTMLParser
from typing import Any

from dynascope.notebook.show import html_of

NEVER_CLOSED = {"br"}


class ParsedHtml(HTMLParser):
    """A tree, flattened: elements with their attributes, texts with where they are."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self.faults: list[str] = []
        self.rows: list[list[str]] = []  # of all tables, with their headings
        self.feed(text)
        self.close()
        self.faults += [f"{name} is not closed" for name in self.open]

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((name, {key: value or "" for key, value in attributes}))
        self.faults += ["an attribute twice"] * (len(attributes) - len(dict(attributes)))
        if name not in NEVER_CLOSED:
            self.open.append(name)
        if name == "tr":
            self.rows.append([])
        elif name in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, name: str) -> None:
        if not self.open or self.open.pop() != name:
            self.faults.append(f"{name} is closed where it is not open")

    def handle_data(self, text: str) -> None:
        self.texts.append((tuple(self.open), text))
        if {"td", "th"} & {*self.open} and "svg" not in self.open:
            self.rows[-1][-1] += text

    def handle_comment(self, text: str) -> None:
        self.faults.append("a comment")

    def handle_decl(self, text: str) -> None:
        self.faults.append("a declaration")

    def handle_pi(self, text: str) -> None:
        self.faults.append("an instruction")

    def text(self) -> str:
        """All that people read."""
        return "".join(text for where, text in self.texts if "style" not in where)

    def facts(self) -> dict[str, str]:
        """Rows of two cells: a heading and a value."""
        return {row[0]: row[1] for row in self.rows if len(row) == 2}

    def named(self, name: str) -> list[dict[str, str]]:
        """The attributes of all elements of a name."""
        return [attributes for element, attributes in self.elements if element == name]


# Elements that neither run, load nor link.
HARMLESS = {
    *("div", "span", "style", "table", "thead", "tbody", "tr", "th", "td", "br"),
    *("svg", "path", "line", "rect", "circle", "polygon", "text", "title"),
}


def parsed(shown: Any) -> ParsedHtml:
    return ParsedHtml(html_of(shown))


def check_harmless(page: ParsedHtml) -> None:
    assert page.faults == []
    assert {name for name, _ in page.elements} <= HARMLESS
    assert len(page.named("style")) == 1
    for _, attributes in page.elements:
        assert not {key for key in attributes if key.startswith("on")}
        assert not {"href", "src", "id", "xlink:href"} & attributes.keys()

"""A figure as SVG that can stand in a page with others: its own ids, points that are links.

`ds.plots` marks a point that is a run by a link to `#run=SOURCE#ID@EPOCH`. Here it becomes one to
the run as `dynascope show` serves it beside the report: `runs/SOURCE/#v=1&run=ID&t=EPOCH`.
"""

import re
from io import StringIO
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
_RUN = re.compile(r"#run=([A-Za-z0-9._-]+)#([0-9a-f]{20})@([0-9]+)", re.ASCII)
_REFERENCE = re.compile(r"#([A-Za-z0-9_.:-]+)")
_LEFT_OUT = ("metadata", "style")  # a date and a version; a rule that would reach the whole page
_FONT = "'DejaVu Sans'"
_FONTS = f"{_FONT}, Verdana, sans-serif"  # where there is no such font


def svg_of(figure: "Figure", name: str, above: str = "") -> str:
    """The figure as an element; `name` begins its ids, `above` its links to runs."""
    file = StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    root = ElementTree.fromstring(file.getvalue())
    for element in root.iter():
        _plain(element, above)
    _rename(root, name)
    width = root.get("viewBox", "0 0 0 0").split()[2]
    for each in ("width", "height", "version"):
        root.attrib.pop(each, None)
    root.attrib |= {
        **{"role": "group", "style": f"--points: {width}"},
        **{"stroke-linejoin": "round", "stroke-linecap": "butt"},
    }
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)


def svg_file(figure: "Figure", name: str) -> str:
    """The figure as a file of its own, in a folder beside the runs."""
    element = svg_of(figure, name, above="../").replace(
        "<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1
    )
    return f'<?xml version="1.0" encoding="utf-8"?>\n{element}\n'


def _plain(element: ElementTree.Element, above: str) -> None:
    element.tag = element.tag.removeprefix(_SVG)
    for child in [each for each in element if each.tag.removeprefix(_SVG) in _LEFT_OUT]:
        element.remove(child)
    element.text, element.tail = _closer(element.text), _closer(element.tail)
    if "d" in element.attrib:
        element.set("d", " ".join(element.attrib["d"].split()))
    if _FONT in element.get("style", ""):
        element.set("style", element.attrib["style"].replace(_FONT, _FONTS))
    link = element.attrib.pop(_XLINK, None)
    if link is None:
        return
    if element.tag != "a":  # a marker that is drawn again, or an image
        element.set("href", "".join(link.split()) if link.startswith("data:") else link)
        return
    element.attrib.pop("target", None)
    run = _RUN.fullmatch(link)
    if run is not None:  # nothing else is linked to
        source, name, epoch = run.groups()
        element.set("href", f"{above}runs/{source}/#v=1&run={name}&t={epoch}")
        element.set("class", "run")


def _closer(text: str | None) -> str | None:
    """Without the line breaks between elements, which are half of a file of a thousand points."""
    return "" if text is not None and "\n" in text and not text.strip() else text


def _rename(root: ElementTree.Element, name: str) -> None:
    """Ids that something refers to get names that no other figure has; the others go."""
    links = [e.attrib["href"] for e in root.iter() if e.get("href", "").startswith("#")]
    urls = [v for e in root.iter() for k, v in e.attrib.items() if "url(#" in v]
    used = {each for text in (*links, *urls) for each in _REFERENCE.findall(text)}
    names: dict[str, str] = {}
    for element in root.iter():
        own = element.attrib.pop("id", None)
        if own is not None and own in used:
            names[own] = f"{name}-{len(names) + 1}"
            element.set("id", names[own])
    for element in root.iter():
        for key, value in element.attrib.items():
            if "url(#" in value or (key == "href" and value.startswith("#")):
                element.set(key, _REFERENCE.sub(lambda m: f"#{names.get(m[1], m[1])}", value))

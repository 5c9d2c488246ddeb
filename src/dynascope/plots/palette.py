"""The colour and the marker of everything that is drawn, from the one `theme.json`.

As in the paper: sequences with one prefix share a colour, prefixes that are equal up to a
permutation have similar ones, the class is the marker; relevant positions are circles, irrelevant
ones squares; an assembler has the colour of its receptor. Of data of one's own, sequences of one
class share a colour, and all positions are diamonds. web/src/model/palette.ts has the same rules
for the page; a test compares them.
"""

import math
from collections.abc import Collection, Iterable
from functools import cache
from typing import Any, NamedTuple

from dynascope.claim_verdicts import FAILS, HOLDS, IN_PART, OPEN, VERDICTS
from dynascope.option_rules import Choice
from dynascope.plots._colour_space import contrast, lch, lighter, mix, ramp, readable, rgb
from dynascope.shown_sequences import NO_TARGET, ShownSequences
from dynascope.theme import theme as shared_theme

THEMES = ("light", "dark")
LEAST_CONTRAST = 3.0  # WCAG 2.2, 1.4.11: graphical objects
TEXT_CONTRAST = 4.5  # 1.4.3: text; on any ground black or white has it
SHADES = 64  # of attention
_SPREAD = 0.05  # of lightness, to each side, between the orderings of one multiset
_GOLDEN = 0.6180339887498949  # turns: neighbours in number are far apart in hue

_VERDICTS = {  # a colour's number in the cycle, None: neutral; and a marker
    HOLDS: (2, "circle"),
    IN_PART: (0, "diamond"),
    FAILS: (1, "cross"),
    OPEN: (None, "square"),
}


class PointStyle(NamedTuple):
    """How a point looks."""

    fill: str
    stroke: str  # around it, where points overlap or lie on a map
    marker: str  # a name of theme.json


class Palette:
    """All colours of a theme."""

    def __init__(self, theme: str) -> None:
        self.theme = Choice(THEMES).check("theme", theme)
        self.colours: dict[str, Any] = shared_theme()[theme]
        self.markers: dict[str, Any] = shared_theme()["markers"]

    def __getitem__(self, name: str) -> str:
        """A colour that has one name: "ink", "grid", "query"."""
        colour: str = self.colours[name]
        return colour

    def tokens(self, tokens: Iterable[int]) -> list[PointStyle]:
        return [self._style(self._cycled(int(each)), self.markers["token"]) for each in tokens]

    def positions(self, length: int, relevant: Collection[int] | None) -> list[PointStyle]:
        """Styles of all positions; `relevant` is None where nobody knows which are.

        Relevant ones and irrelevant ones are counted apart: each kind has all the colours.
        """
        if relevant is None:
            marker = self.markers["position"]
            return [self._style(self._cycled(t), marker) for t in range(length)]
        known, counts, styles = set(relevant), {True: 0, False: 0}, []
        for t in range(length):
            kind = t in known
            marker = self.markers["relevant" if kind else "irrelevant"]
            styles.append(self._style(self._cycled(counts[kind]), marker))
            counts[kind] += 1
        return styles

    def pair(self, token: int, position: PointStyle) -> PointStyle:
        """A token at a position: the position's colour and marker, the token's colour around it."""
        return position._replace(stroke=self._cycled(token))

    def group(self, group: int, groups: int) -> str:
        return self._legible(
            ramp(self.colours["groups"], group / (groups - 1) if groups > 1 else 0.5)
        )

    def group_of(self, sequences: ShownSequences, group: int) -> str:
        """The colour of a group; sequences without a target are the last one, and neutral."""
        untold = int(sequences.targets[-1] == NO_TARGET)
        told = len(sequences.group_names) - untold
        return self.group(group, told) if group < told else self._legible(self["quiet"])

    def sequences(self, sequences: ShownSequences) -> list[PointStyle]:
        fills = self._prefixes(sequences)
        pairs = zip(sequences.prefix.tolist(), sequences.targets.tolist(), strict=True)
        return [self._style(fills[prefix], self.marker(target)) for prefix, target in pairs]

    def marker(self, target: int) -> str:
        """The marker of a class."""
        classes = self.markers["classes"]
        found: str = (
            self.markers["untold"] if target == NO_TARGET else classes[target % len(classes)]
        )
        return found

    def unit(self, unit: int) -> str:
        units = self.colours["units"]
        return self._legible(lch(units["lightness"][unit % 2], units["chroma"], unit * _GOLDEN % 1))

    def receptors(self, units: Iterable[int]) -> list[PointStyle]:
        return [self._style(self.unit(int(each)), self.markers["receptor"]) for each in units]

    def assemblers(self, units: Iterable[int]) -> list[PointStyle]:
        return [self._style(self.unit(int(each)), self.markers["assembler"]) for each in units]

    def map_fill(self, target: int) -> tuple[float, float, float]:
        """The fill of a class on a map, red, green and blue from 0 to 255."""
        fills = self.colours["map"]
        base, turn = fills[target % len(fills)], target // len(fills) % 4
        step = -0.05 if self.theme == "light" else 0.05
        return rgb(lighter(base, step * turn) if turn else base)

    def attention_shades(self) -> list[str]:
        """From no attention to the most."""
        none, most = self.colours["attention"]
        return [mix(none, most, 0.9 * i / (SHADES - 1)) for i in range(SHADES)]

    def series(self, number: int) -> PointStyle:
        """Of several groups of runs, each has a colour and a marker of its own."""
        return self._style(self._cycled(number), self.marker(number))

    def verdict(self, verdict: str) -> PointStyle:
        """Of a claim; also without colours the marker tells which."""
        number, marker = _VERDICTS[Choice(VERDICTS).check("verdicts", verdict)]
        colour = self["quiet"] if number is None else self._cycled(number)
        return self._style(colour, marker)

    def ink_on(self, ground: str) -> str:
        """The ink that can be read on this."""
        inks = (self["ink"], self["panel"], "#000000", "#ffffff")
        return next((ink for ink in inks if contrast(ink, ground) >= TEXT_CONTRAST), self["ink"])

    def _style(self, fill: str, marker: str) -> PointStyle:
        return PointStyle(fill, self["halo"], marker)

    def _prefixes(self, sequences: ShownSequences) -> list[str]:
        """One colour of each prefix: its group's, a little lighter or darker by its ordering."""
        group_of = dict(zip(sequences.prefix.tolist(), sequences.group.tolist(), strict=True))
        members: dict[int, list[int]] = {}
        for prefix in range(len(group_of)):
            members.setdefault(group_of[prefix], []).append(prefix)
        fills = [""] * len(group_of)
        for group, prefixes in members.items():
            colour, last = self.group_of(sequences, group), len(prefixes) - 1
            for place, prefix in enumerate(prefixes):
                shift = _SPREAD * (2 * place / last - 1) if last else 0.0
                fills[prefix] = self._legible(lighter(colour, shift))
        return fills

    def _cycled(self, index: int) -> str:
        cycle = self.colours["cycle"]
        turn, base = math.floor(index / len(cycle)) % 3, cycle[index % len(cycle)]
        return self._legible(lighter(base, -0.12 if turn == 1 else 0.12) if turn else base)

    def _legible(self, colour: str) -> str:
        return readable(colour, self["panel"], LEAST_CONTRAST)


@cache
def palette_of(theme: str) -> Palette:
    """The palette of "light" or "dark"."""
    return Palette(theme)

"""Attention: a row for each sequence, a column for each position, tokens written where they fit."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.colors import ListedColormap
from matplotlib.text import Text

from dynascope.plots._drawn import DrawnPanel
from dynascope.plots._look import size_of
from dynascope.plots.view import View
from dynascope.shown_sequences import ShownSequences

Array = npt.NDArray[Any]

_LOW = 5.2  # points: in lower rows the tokens cannot be read
_FEWEST = 8  # rows, in however little room
_NUMBER = 9.0  # points across that the number of a position needs
_LARGEST = 8.0  # points: a token's digits grow with their cell up to here


class DrawnAttention(DrawnPanel):
    """Attention of some of the sequences, spread evenly over all of them."""

    square = False

    def make(self, view: View) -> None:
        ax, sequences = self.ax, view.sequences
        width, height = size_of(ax)
        self.rows = spread_rows(sequences, max(_FEWEST, int(height / _LOW)))
        length = sequences.tokens.shape[1]
        cell = min(width / length, height / len(self.rows))
        self._cmap = ListedColormap(self.palette.attention_shades())
        edges = (-0.5, length - 0.5, len(self.rows) - 0.5, -0.5)
        self.image = ax.imshow(
            np.zeros((len(self.rows), length)),
            cmap=self._cmap,
            aspect="auto",
            interpolation="nearest",
            extent=edges,
            zorder=1,
        )
        self._grid(length, width)
        self._lines(sequences, length)
        self.texts = self._tokens(sequences, cell) if cell >= 4 else []
        self.update(view)

    def update(self, view: View) -> None:
        attention = np.asarray(view.activations.attention[self.rows], np.float64)
        self.image.set_data(attention)
        self.image.set_clim(0, highest(attention))
        for text, shade in zip(
            self.texts, np.asarray(self.image.norm(attention)).ravel(), strict=False
        ):
            colour = self._cmap(float(shade))
            text.set_color(self.palette.ink_on(_hex(colour)))

    @classmethod
    def columns(cls, panel: str, view: View) -> Mapping[str, Any]:
        sequences = view.sequences
        count, length = sequences.tokens.shape
        return {
            "sequence": np.repeat(sequences.names(), length).tolist(),
            "position": np.tile(np.arange(length), count).tolist(),
            "token": sequences.tokens.ravel().tolist(),
            "attention": view.activations.attention.ravel(),
        }

    def _grid(self, length: int, width: float) -> None:
        """Gaps between the cells; numbers of positions below."""
        ax = self.ax
        ax.set_xticks(range(0, length, max(1, round(_NUMBER * length / width))))
        ax.set_yticks([])
        ax.tick_params(length=0)
        for spine in ax.spines.values():
            spine.set_visible(False)
        gap: dict[str, Any] = {"colors": self.palette["panel"], "linewidth": 0.5, "zorder": 1.5}
        ax.vlines(np.arange(length + 1) - 0.5, -0.5, len(self.rows) - 0.5, **gap)
        ax.hlines(np.arange(len(self.rows) + 1) - 0.5, -0.5, length - 0.5, **gap)

    def _lines(self, sequences: ShownSequences, length: int) -> None:
        """Between relevant positions and the others."""
        relevant = set(sequences.positions or ())
        turns = [t - 0.5 for t in range(1, length) if (t in relevant) != (t - 1 in relevant)]
        ends = (-0.5, len(self.rows) - 0.5)
        self.ax.vlines(turns, *ends, colors=self.palette["query"], linewidth=1, zorder=2)
        self.ax.set(xlim=(-0.5, length - 0.5), ylim=ends[::-1])

    def _tokens(self, sequences: ShownSequences, cell: float) -> list[Text]:
        size = min(_LARGEST, 0.8 * cell)
        return [
            self.ax.text(
                t, row, str(token), ha="center", va="center_baseline", fontsize=size, zorder=3
            )
            for row, sequence in enumerate(self.rows)
            for t, token in enumerate(sequences.tokens[sequence].tolist())
        ]


class DrawnInput(DrawnAttention):
    """The tokens alone, in the colours of tokens: what attention is given."""

    def update(self, view: View) -> None:
        styles = self.palette.tokens(range(view.sequences.vocab))
        self.image.set(cmap=ListedColormap([style.fill for style in styles]))
        self.image.set_data(view.sequences.tokens[self.rows])
        self.image.set_clim(-0.5, len(styles) - 0.5)
        for text, token in zip(
            self.texts, view.sequences.tokens[self.rows].ravel().tolist(), strict=False
        ):
            text.set_color(self.palette.ink_on(styles[token].fill))


def spread_rows(sequences: ShownSequences, most: int) -> Array:
    """At most so many sequences, evenly spread, those of one multiset and prefix side by side."""
    order = np.lexsort((np.arange(len(sequences)), sequences.prefix, sequences.group))
    places = min(most, len(sequences))
    return np.asarray(order[((np.arange(places) + 0.5) * len(order) / places).astype(int)])


def highest(attention: Array) -> float:
    """The most attention in these rows, or twice everyone's share where that is more."""
    return float(max(2 / attention.shape[1], np.nanmax(attention, initial=0.0)))


def _hex(colour: Any) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour[:3])

"""How an object shows itself in a notebook: who draws it is said from above, by `wiring`.

Runs, weights and analyses lie in different layers, and all of them below what draws them.
"""

from collections.abc import Callable

Drawing = Callable[[object], str]
_provided: list[Drawing] = []


def provide_drawing(drawing: Drawing) -> None:
    """From now on this makes the HTML of objects."""
    _provided[:] = [drawing]


class ShownInNotebooks:
    """An object that Jupyter shows as a card: a compact table and a small picture."""

    def _repr_html_(self) -> str | None:
        """None, for which Jupyter shows the plain `repr`, if the card cannot be made: looking at an
        object must not end in a traceback."""
        try:
            return _provided[0](self)
        except Exception:
            return None

"""An empty figure in our style, for pictures that people put together themselves."""

from typing import Any

from dynascope.errors import expected
from dynascope.near_misses import guided
from dynascope.plots._look import PublicationFigure, new_figure, style, width_in_inches
from dynascope.plots.palette import palette_of

_ASPECT = 0.68  # of each axes with what is around it: height over width
_GAP = 0.03  # inches around axes and their names
_HIGHEST = 40.0  # inches


@guided
def subplots(
    rows: int = 1,
    columns: int = 1,
    *,
    width: str | float = "page",
    height: float | None = None,
    theme: str = "light",
    **options: Any,
) -> tuple[PublicationFigure, Any]:
    """A figure and its axes, as `matplotlib.pyplot.subplots` gives them: one, or an array.

    Room for names and legends is made when the figure is drawn. `width` is "column", "page" or
    inches, `height` is in inches; `options` go to matplotlib (`sharey=True`, `width_ratios=...`).
    """
    palette, inches = palette_of(theme), width_in_inches(width)
    high = inches / columns * _ASPECT * rows if height is None else height
    if not isinstance(high, int | float) or not 0 < high <= _HIGHEST:
        raise expected("height", f"inches above 0 and up to {_HIGHEST:g}", height)
    with style(palette):
        figure = new_figure(inches, float(high), palette)
        figure.set_layout_engine("constrained", w_pad=_GAP, h_pad=_GAP, wspace=0.03, hspace=0.03)
        return figure, figure.subplots(rows, columns, **options)

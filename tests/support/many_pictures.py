"""Pictures of many runs, one of each kind, as tests of all of them draw them."""

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

import dynascope as ds
from dynascope.claim_verdicts import VERDICTS
from dynascope.plots.run_links import linked_run

Array = npt.NDArray[Any]
Picture = Callable[..., Axes]
SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"

NAMES = [f"setting number {i}" for i in range(20)]
EPS = np.geomspace(1e-5, 1e2, 15)


def draws(*shape: int) -> Array:
    return np.random.default_rng(7).lognormal(size=shape)


def spread_names(count: int) -> list[str]:
    return [NAMES[i % len(NAMES)] for i in range(count)]


# What can link to runs; each draws so many of them.
LINKED: dict[str, Callable[..., Axes]] = {
    "dots": lambda n, **how: ds.plots.dots(np.arange(n) % 5, draws(n), **how),
    "dots at names": lambda n, **how: ds.plots.dots(spread_names(n), draws(n), **how),
    "dots of groups": lambda n, **how: ds.plots.dots(
        spread_names(n), draws(n), groups=[f"group {i % 3}" for i in range(n)], **how
    ),
    "cloud": lambda n, **how: ds.plots.cloud(draws(n), draws(2, n)[1], **how),
    "cloud of groups": lambda n, **how: ds.plots.cloud(
        draws(n), draws(2, n)[1], groups=[f"group {i % 3}" for i in range(n)], **how
    ),
    "thresholds": lambda n, **how: ds.plots.thresholds(
        EPS, draws(n, len(EPS)).cumsum(1) / 40, [str(i % 2) for i in range(n)], **how
    ),
    "effects": lambda n, **how: ds.plots.effects(
        spread_names(n), draws(n), draws(n) - 0.3, draws(n) + 0.3, reference=1.0, **how
    ),
    "effects with verdicts": lambda n, **how: ds.plots.effects(
        spread_names(n),
        draws(n),
        draws(n) - 0.3,
        draws(n) + 0.3,
        verdicts=[VERDICTS[i % 4] for i in range(n)],
        **how,
    ),
}
COUNTED: dict[str, Callable[..., Axes]] = {
    "rates": lambda n, **how: ds.plots.rates(np.arange(n), np.arange(n), [n] * n, **how),
    "rates at names": lambda n, **how: ds.plots.rates(
        NAMES[:n], np.arange(min(n, 20)), [20] * min(n, 20), **how
    ),
    "bars": lambda n, **how: ds.plots.bars(spread_names(n), np.arange(n), **how),
    "bars of shares": lambda n, **how: ds.plots.bars(
        spread_names(n), np.arange(n), of=max(n, 1), **how
    ),
}
ALL = LINKED | COUNTED


def as_svg(ax: Axes) -> bytes:
    file = BytesIO()
    ax.get_figure(root=True).savefig(file, format="svg", metadata={"Date": None})  # type: ignore[union-attr]
    return file.getvalue()


def links_in(svg: bytes) -> list[str]:
    """The runs that marks link to; every link is around something that is drawn."""
    found = []
    for link in ElementTree.fromstring(svg).iter(f"{SVG}a"):
        address = linked_run(link.attrib[f"{XLINK}href"])
        if address is not None:
            assert any(each.tag in (f"{SVG}use", f"{SVG}path") for each in link.iter())
            found.append(address)
    return found


def addresses(count: int) -> Sequence[str]:
    return [f"default#{i:016x}@1000" for i in range(count)]

"""Numbers for each part of the model and each drop or spike: as columns, and as a table."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis.parts import ALL
from dynascope.findings.kind import Listing
from dynascope.findings.medians import number
from dynascope.plain import plain

Array = npt.NDArray[Any]


def column_of(name: str, part: str) -> str:
    """
    >>> column_of("speed_at_drops", "all"), column_of("speed_at_drops", "query")
    ('speed_at_drops', 'speed_at_drops_query')
    """
    return name if part == ALL else f"{name}_{part}"


def without_holes(name: str, by_part: Mapping[str, Array]) -> dict[str, list[float] | None]:
    """Columns of lists; null where one of the numbers is none: stored lists have no holes."""
    return {
        column_of(name, part): None if np.isnan(values).any() else values.tolist()
        for part, values in by_part.items()
    }


def zero_before(by_part: Mapping[str, Array], why: str) -> list[str]:
    """Why some of these columns are null.

    >>> zero_before({"value": np.array([np.nan]), "query": np.array([2.0])}, "no gradient")
    ['no gradient (value)']
    """
    parts = [part for part, values in by_part.items() if np.isnan(values).any()]
    return [f"{why} ({', '.join(parts)})"] if parts else []


def listing(
    heading: str, epochs: Sequence[int], by_part: Mapping[str, Array], legend: str
) -> Listing:
    """A row for each drop or spike, a column for each part."""
    columns = {part: [number(value) for value in plain(v)] for part, v in by_part.items()}
    return Listing({heading: [str(epoch) for epoch in epochs], **columns}, legend)

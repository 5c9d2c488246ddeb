"""Values that an option of the kernel's table does not accept, just beyond its limits."""

import math

from dynascope.catalog import Option


def beyond(option: Option) -> list[float]:
    """Numbers that are refused; none for options that are not numbers."""
    if option.kind == "whole":
        return [option.low - 1, (option.high or 0) + 1]
    if option.kind != "real":
        return []
    low = option.low if option.above else math.nextafter(option.low, -1)
    return [low, math.inf if option.high is None else option.high]

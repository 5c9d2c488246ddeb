"""Shares as people read them, by one rule for the command line, reports and the sandbox.

A share is rounded to the nearest last digit. But 1 and 0 are said of exactly 1 and exactly 0 alone:
what would be rounded to them is `>99.9%` and `<0.1%`, or `>0.999` and `<0.001`. So `100%` means
that nothing was wrong. web/src/model/number-text.ts is the same rule for the page, and a test runs
one table of numbers through both.
"""

import math

MISSING = "-"
_LARGEST = 1e9  # in size: beyond it is no share, whatever a file says


def percent(share: float | None, places: int = 1) -> str:
    """A share in percent.

    >>> [percent(share) for share in (0.4, 0.9986, 2047 / 2048, 1, 1e-9, 0)]
    ['40.0%', '99.9%', '>99.9%', '100%', '<0.1%', '0%']
    >>> percent(0.996, places=0), percent(None)
    ('>99%', '-')
    """
    if share is None or not abs(share) <= _LARGEST:
        return MISSING
    sign, units = _rounded(share, 100 * 10**places)
    if not sign and units in (0, 100 * 10**places):
        return f"{units // 10**places}%"  # exactly
    return f"{sign}{_decimal(units, places)}%"


def fraction(share: float | None, places: int = 3) -> str:
    """A share as a number from 0 to 1, as wide as any other in a column.

    >>> [fraction(share) for share in (0.4, 0.9986, 2047 / 2048, 1, 1e-9, 0)]
    ['0.400', '0.999', '>0.999', '1.000', '<0.001', '0.000']
    """
    if share is None or not abs(share) <= _LARGEST:
        return MISSING
    sign, units = _rounded(share, 10**places)
    return f"{sign}{_decimal(units, places)}"


def significant(value: float, digits: int) -> str:
    """Any number with so many digits that count; what is just below 1 is not told as 1.

    >>> significant(0.0031622776, 4), significant(0.99999, 4), significant(1.0, 4)
    ('0.003162', '>0.9999', '1')
    """
    text = f"{value:.{digits}g}"
    return f">{1 - 10**-digits:.{digits}g}" if text == "1" and value < 1 else text


def _rounded(share: float, whole: int) -> tuple[str, int]:
    """The share in units of which `whole` make 1, and the sign for what lies between the last unit
    and an end. Only operations that every language does alike."""
    units = math.floor(share * whole + 0.5)
    if units == whole and share < 1:
        return ">", whole - 1
    if units == 0 and share > 0:
        return "<", 1
    return "", units


def _decimal(units: int, places: int) -> str:
    size, minus = abs(units), "-" if units < 0 else ""
    if places == 0:
        return f"{minus}{size}"
    whole, rest = divmod(size, 10**places)
    return f"{minus}{whole}.{rest:0{places}d}"

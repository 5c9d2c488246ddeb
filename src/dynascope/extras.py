"""Packages that only some uses need: the one sentence on a package that is missing.

`pyproject.toml` says what each extra installs, docs/install.md what each costs and is for.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from dynascope.errors import DynascopeError

Extra = Literal["notebook", "pandas", "plots", "ray", "sql", "study", "theory", "torch"]


@contextmanager
def needing(extra: Extra, use: str, package: str, instead: str = "") -> Iterator[None]:
    """Within its block, `use` imports the package that comes with this extra; `instead` is what
    works without it.

    >>> with needing("sql", "query", "missing_package"):
    ...     import missing_package
    Traceback (most recent call last):
    dynascope.errors.DynascopeError: query: missing_package is not installed; run: pip install 'dynascope[sql]'.
    """  # noqa: E501
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != package:  # it is there, and broken: its own message says more
            raise
        command = f"pip install 'dynascope[{extra}]'"
        otherwise = f", or {instead}" if instead else ""
        raise DynascopeError(
            f"{use}: {package} is not installed; run: {command}{otherwise}."
        ) from None

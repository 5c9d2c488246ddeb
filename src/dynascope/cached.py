"""`cached_property` that lets threads compute at the same time.

Until Python 3.12 the library's own holds one lock for all instances of a class while it computes:
of two threads that each look at a Hessian of their own, one waits for the other.
"""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:
    Value = TypeVar("Value")

    class cached_property(Generic[Value]):
        """Computed when it is first looked at; from then on an attribute like any other."""

        def __init__(self, compute: Callable[[Any], Value]) -> None:
            self._compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            value = self._compute(instance)
            return vars(instance).setdefault(self._name, value)  # of two at once, the first counts

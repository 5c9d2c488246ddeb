"""What is wrong with a file of a store, as an error and in words."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa


class DamagedError(Exception):
    """A file does not hold what it was written with; the text says how that shows."""


class UnreadableError(DamagedError):
    """A file could not be read here and now; that says nothing about what is in it."""


class DamageWarning(UserWarning):
    """A file of a store is not as it was written; it was left out."""


@dataclass(frozen=True)
class Damage:
    """A damaged file, and how that shows."""

    path: Path
    why: str
    certain: bool = True  # else it could only not be read, this time or by this version

    @classmethod
    def of(cls, path: Path, error: DamagedError) -> "Damage":
        return cls(path, str(error), not isinstance(error, UnreadableError))

    def __str__(self) -> str:
        return f"{self.path}: skipped as damaged: {self.why}."


def unreadable(error: OSError) -> DamagedError:
    """What an error of the system means: a file that is not there is lost, others may come back."""
    if error.errno is None:  # not the system's: Arrow's words for bytes that make no sense
        return nonsense(error)
    kind = DamagedError if isinstance(error, FileNotFoundError) else UnreadableError
    return kind(f"it cannot be read ({error.strerror or error})")


def nonsense(error: Exception) -> DamagedError:
    """What a reader stumbled over, in one line."""
    words = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    return DamagedError(f"it is not as dynascope writes it ({words[:_LONGEST]})")


_LONGEST = 200  # characters of what a reader says of a file


@contextmanager
def reading() -> Iterator[None]:
    """Within its block whatever a reader stumbles over is damage."""
    try:
        yield
    except DamagedError:
        raise
    except OSError as error:
        raise unreadable(error) from None
    except MemoryError:  # sizes are checked before: another time there may be enough
        raise UnreadableError("there is not enough memory to read it") from None
    except _STUMBLES as error:
        raise nonsense(error) from None


# RecursionError: lists in lists in lists. ArithmeticError: numbers that no type can hold.
_STUMBLES = (
    *(ValueError, LookupError, TypeError, AttributeError, RecursionError, ArithmeticError),
    pa.ArrowException,
)

"""What DuckDB cannot do, as one sentence of ours."""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from dynascope.errors import DynascopeError
from dynascope.store.sql_connection import import_duckdb, memory_limit

_DRAWINGS = ("\n\nLINE ", "\nLINE ", "You might need to add explicit", "Candidate functions:")
_OUT_OF_REACH = (
    "a query reads the table `runs` and nothing else: no files, no network, no extensions, no "
    "settings."
)


@contextmanager
def in_one_sentence(field: str) -> Iterator[None]:
    """Within its block what DuckDB cannot do is an error about this field."""
    duckdb = import_duckdb()
    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.PermissionException:
        raise DynascopeError(f"{field}: {_OUT_OF_REACH}") from None
    except (duckdb.OutOfMemoryException, MemoryError):
        most = f"{memory_limit() / 2**30:.3g} GiB"
        raise DynascopeError(
            f"{field}: this needs more than {most} of memory; ask for fewer rows or columns."
        ) from None
    except (duckdb.Error, pa.ArrowException, OSError, RuntimeError) as error:
        raise DynascopeError(f"{field}: {_sentence(error)}") from None


def _sentence(error: Exception) -> str:
    """What DuckDB says, without its drawing of where."""
    text = str(error)
    if any(words in text for words in ("configuration has been locked", "extension by running")):
        return _OUT_OF_REACH
    for end in _DRAWINGS:
        text = text.partition(end)[0]
    text = " ".join(text.split())
    if "[]'" in text or "[])" in text:
        text += " Curves are lists, from before training to the end: test_loss[-1] is the last one."
    return text if text.endswith((".", "!", "?")) else f"{text}."

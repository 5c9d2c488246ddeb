"""A file that a person asked for: it gets its name once it is whole, or there is none.

It is written beside its place under a temporary name, then renamed over what was there before.
"""

import contextlib
import os
import secrets
from io import BufferedRandom
from pathlib import Path
from types import TracebackType

from dynascope.errors import DynascopeError, expected, shown


class OutputFile:
    """Within its block `file` takes bytes anywhere; `finish` gives it its name.

    Left without `finish`, by an error or Ctrl-C, nothing is left behind.
    """

    file: BufferedRandom

    def __init__(self, path: str | os.PathLike[str], field: str) -> None:
        self.path = _checked(path, field)
        self._temporary = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}.part")
        self._field = field

    def __enter__(self) -> "OutputFile":
        try:
            self.file = open(self._temporary, "x+b")
        except OSError as error:
            raise DynascopeError(
                f"{self._field}: cannot write {shown(str(self.path))} ({error.strerror}); choose "
                "another place."
            ) from None
        return self

    def finish(self) -> None:
        """All is written: it gets its name."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        os.replace(self._temporary, self.path)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.file.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._temporary)


def _checked(path: str | os.PathLike[str], field: str) -> Path:
    try:
        name = os.fspath(path)
    except TypeError:
        raise expected(field, "the name of a file", path) from None
    if not isinstance(name, str) or not name or "\0" in name:
        raise expected(field, "the name of a file", name)
    found = Path(name)
    if found.is_dir():
        raise DynascopeError(
            f"{field}: expected the name of a file, but {shown(name)} is a folder."
        )
    return found

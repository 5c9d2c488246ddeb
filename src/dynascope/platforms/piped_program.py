"""A browser that is started by us and spoken to over two pipes, which nobody else can reach."""

from typing import Protocol


class PipedProgram(Protocol):
    """Not started yet, or running, or ended; `end` is right at any time."""

    def start(self, path: str, arguments: list[str], folder: str) -> None:
        """Start a Chromium; `folder`: where its temporary files go, and `words`, all it says."""

    def send(self, message: bytes) -> None:
        """All of it; a BrokenPipeError where nobody listens any more."""

    def receive(self, seconds: float) -> bytes | None:
        """Some bytes; none of them when the program has ended, None if nothing came in time."""

    def end(self) -> None:
        """Nothing of it is left but its files."""

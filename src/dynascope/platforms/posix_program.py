"""A browser and its pipes on Linux and macOS: two file descriptors with agreed numbers."""

import contextlib
import fcntl
import os
import select
import signal
import sys

assert sys.platform != "win32"

_READ_AT, _WRITE_AT = 3, 4  # where the browser expects the pipes
_CHUNK = 2**20


class PosixProgram:
    """`PipedProgram` with descriptors that the program inherits."""

    def __init__(self) -> None:
        self._pid = 0
        self._pipes: list[int] = []  # ours: to read from, to write to

    def start(self, path: str, arguments: list[str], folder: str) -> None:
        from_program, its_output = map(_above_standard, os.pipe())
        its_input, to_program = map(_above_standard, os.pipe())
        self._pipes = [from_program, to_program]
        words = os.path.join(folder, "words")
        try:
            self._pid = os.posix_spawn(
                path,
                [path, *arguments],
                {**os.environ, "TMPDIR": folder},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, its_input, _READ_AT),
                    (os.POSIX_SPAWN_DUP2, its_output, _WRITE_AT),
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 2, words, os.O_WRONLY | os.O_CREAT, 0o600),
                ],
                setpgroup=0,  # Ctrl-C is for us, who then end it and all its processes
            )
        finally:
            os.close(its_input)
            os.close(its_output)
        os.set_blocking(from_program, False)

    def send(self, message: bytes) -> None:
        while message:
            message = message[os.write(self._pipes[1], message) :]

    def receive(self, seconds: float) -> bytes | None:
        ready, _, _ = select.select([self._pipes[0]], [], [], seconds)
        return os.read(self._pipes[0], _CHUNK) if ready else None

    def end(self) -> None:
        while self._pipes:
            os.close(self._pipes.pop())
        if self._pid:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)  # all of them: nothing is worth waiting for
            os.waitpid(self._pid, 0)
            self._pid = 0


def _above_standard(handle: int) -> int:
    """The same pipe under a number that is none of those that the browser is given."""
    moved = fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(handle)
    return moved

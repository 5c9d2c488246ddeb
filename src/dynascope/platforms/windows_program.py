"""A browser and its pipes on Windows: two handles, whose numbers it is told."""

import contextlib
import msvcrt
import os
import queue
import subprocess
import sys
import threading

assert sys.platform == "win32"

_CHUNK = 2**16
_GRACE = 5.0  # seconds for the thread that reads to see the end


class WindowsProgram:
    """`PipedProgram` with handles that the program inherits.

    One cannot wait for a pipe here, so a thread reads it. Other processes of the browser end by
    themselves, when they find it gone.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._pipes: list[int] = []  # ours: to read from, to write to
        self._received: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)

    def start(self, path: str, arguments: list[str], folder: str) -> None:
        from_program, its_output = os.pipe()
        its_input, to_program = os.pipe()
        self._pipes = [from_program, to_program]
        its = [msvcrt.get_osfhandle(each) for each in (its_input, its_output)]
        try:
            for handle in its:
                os.set_handle_inheritable(handle, True)
            with open(os.path.join(folder, "words"), "wb") as words:
                self._process = subprocess.Popen(
                    [path, f"--remote-debugging-io-pipes={its[0]},{its[1]}", *arguments],
                    env={**os.environ, "TEMP": folder, "TMP": folder},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=words,
                    startupinfo=subprocess.STARTUPINFO(lpAttributeList={"handle_list": its}),
                    creationflags=subprocess.CREATE_NEW_PROCESS_GROUP,  # Ctrl-C is for us
                )
        finally:
            os.close(its_input)
            os.close(its_output)
        self._reader.start()

    def send(self, message: bytes) -> None:
        try:
            while message:
                message = message[os.write(self._pipes[1], message) :]
        except OSError as error:  # Windows says "invalid argument" of a pipe without reader
            raise BrokenPipeError(error.errno, error.strerror) from None

    def receive(self, seconds: float) -> bytes | None:
        try:
            return self._received.get(timeout=seconds)
        except queue.Empty:
            return None

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._reader.is_alive():
            self._reader.join(_GRACE)
        while self._pipes:
            os.close(self._pipes.pop())

    def _read(self) -> None:
        more = b"something"
        while more:
            more = b""
            with contextlib.suppress(OSError):
                more = os.read(self._pipes[0], _CHUNK)
            self._received.put(more)

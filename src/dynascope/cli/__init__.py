"""The command line. Exit codes: 0 done, 1 failed or stopped, 2 bad input.

Whatever goes wrong is one line on stderr. A traceback means a bug of ours.
"""

import os
import sys
import warnings
from collections.abc import Sequence
from io import TextIOWrapper

from dynascope.cli.arguments import parse
from dynascope.errors import DynascopeError
from dynascope.printing import print


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments (default: the process's own) ask for."""
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        for stream in (sys.stdout, sys.stderr):  # a name that the terminal cannot spell is escaped
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        return _guarded(arguments)


def _guarded(arguments: Sequence[str] | None) -> int:
    try:
        code = _run(sys.argv[1:] if arguments is None else arguments)
        if sys.stdout:  # None where a shell closed it: dynascope demo >&-
            sys.stdout.flush()  # here, where a reader that has gone away can be dealt with
        return code
    except DynascopeError as error:
        return _say(str(error), error.code)
    except MemoryError:
        return _say("out of memory; raise record.weights_every or train fewer runs at a time.", 1)
    except KeyboardInterrupt as stop:
        code = _say("stopped.", 1)
        if getattr(
            stop, "still_running", False
        ):  # SQL that nothing stops; it ends with us, at once
            os._exit(code)
        return code
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still buffered has nowhere to go
        if isinstance(error, BrokenPipeError):  # `dynascope train | head` is nothing to talk about
            return 1
        return _say(f"cannot go on: {error}.", 1)


def _run(arguments: Sequence[str]) -> int:
    try:
        command = parse(list(arguments))
        return command.run(command)  # type: ignore[no-any-return]
    except SystemExit as end:  # argparse's way out of --help
        return end.code if isinstance(end.code, int) else 0


def _warn(message: Warning | str, *where: object, **how: object) -> None:
    """Print a warning on one line, without the place in the code that it came from."""
    _say(f"warning: {message}", 0)


def _say(sentence: str, code: int) -> int:
    print(f"dynascope: {sentence}", file=sys.stderr)
    return code

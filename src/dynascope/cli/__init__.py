"""The command line. Exit codes: 0 done, 1 failed or stopped, 2 bad input.

Whatever goes wrong is one line on stderr. A traceback means a bug of ours.
"""

import contextlib
import os
import signal
import sys
import warnings
from collections.abc import Sequence

from dynascope import starting
from dynascope.cli import streams
from dynascope.cli.arguments import parse
from dynascope.errors import DynascopeError
from dynascope.printing import print


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments (default: the process's own) ask for."""
    streams.open_missing()
    streams.escape_unprintable()
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        try:
            return _guarded(arguments)
        finally:
            streams.discard_unwritable()


def _guarded(arguments: Sequence[str] | None) -> int:
    alone = False
    try:
        alone = starting.hand_over()
        code = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()  # here, where a reader that has gone away can be dealt with
        return code
    except DynascopeError as error:
        return _say(str(error), error.code)
    except MemoryError:
        return _say("out of memory; raise record.weights_every or train fewer runs at a time.", 1)
    except KeyboardInterrupt as stop:
        code = _say("stopped.", 1)
        if getattr(stop, "still_running", False):  # SQL that nothing stops; it ends with us
            os._exit(code)
        return code
    except BrokenPipeError:  # `dynascope train | head` is nothing to talk about
        return 1
    except OSError as error:
        return _say(f"cannot go on: {error}.", 1)
    finally:
        if alone:  # the process ends: Ctrl-C cannot do more
            signal.signal(signal.SIGINT, signal.SIG_IGN)


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
    with contextlib.suppress(OSError):  # a terminal that has gone
        print(f"dynascope: {sentence}", file=sys.stderr)
    return code

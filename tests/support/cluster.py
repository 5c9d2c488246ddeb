"""A Ray cluster on this machine: a head without cores and workers, each node a process of its own.

Every node has a loopback address of its own in a network that was drawn at random, a folder of its
own, and a token without which nobody gets in: nothing meets another cluster, or another user.
`kill` is what a power cut does to a node.
"""

import contextlib
import ctypes
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dynascope as ds

SOURCE = str(Path(ds.__file__).parents[1])
_START = 60.0  # seconds for a node to start, on a busy machine
_MEMORY = 100_000_000  # bytes of each object store: Ray wants 75 MB at least


class Environment:
    """The environment of processes that belong together: no settings or files of other clusters."""

    def __init__(self, home: Path) -> None:
        self._variables = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
        self._variables |= {
            "HOME": str(home),  # Ray keeps a token there, and would take one from there
            "PYTHONPATH": SOURCE,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": "0",
            # A node that is gone is noticed after a second, not after fifteen.
            "RAY_health_check_initial_delay_ms": "1000",
            "RAY_health_check_period_ms": "500",
            "RAY_health_check_failure_threshold": "2",
        }

    def __call__(self, **more: str | None) -> dict[str, str]:
        changed = self._variables | more
        return {name: value for name, value in changed.items() if value is not None}


def until(true: Callable[[], Any], seconds: float = _START, every: float = 0.05) -> Any:
    """What `true` returns, once that is something."""
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end, f"{true.__name__}: not within {seconds} seconds"
        time.sleep(every)
    return found


def _text(file: Path) -> str:
    """What a file says by now: nothing if it is not there yet."""
    return file.read_text().strip() if file.exists() else ""


class Node:
    """A node of the cluster: `ray start --block` and everything that it starts."""

    def __init__(self, folder: Path, ip: str, variables: dict[str, str], *options: str) -> None:
        folder.mkdir()
        self.ip, self.log = ip, folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "ray.scripts.scripts", "start", "--block"),
                    f"--node-ip-address={ip}",
                    f"--temp-dir={folder}",  # in one for all, nodes may take the same names
                    f"--object-store-memory={_MEMORY}",
                    "--dashboard-agent-listen-port=0",
                    "--include-log-monitor=false",
                    "--disable-usage-stats",
                    *options,
                ],
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=_die_with_parent,
                start_new_session=True,
            )

    @property
    def started(self) -> bool:
        assert self.process.poll() is None, self.log.read_text(errors="replace")
        return "Ray runtime started" in self.log.read_text(errors="replace")

    @property
    def training(self) -> bool:
        """Whether one of its workers is at work on a shard: Ray says so in the process's title."""
        return any(title(each).startswith("ray::make") for each in descendants(self.process.pid))

    def kill(self) -> None:
        """End everything at once: no process gets to say goodbye."""
        doomed = [*descendants(self.process.pid), self.process.pid]
        for process in doomed:  # first still, so that none sees another one die
            _signal(process, signal.SIGSTOP)
        for process in {*doomed, *descendants(self.process.pid)}:
            _signal(process, signal.SIGKILL)
        self.process.wait()
        until(lambda: not any(map(alive, doomed)))

    def stop(self) -> None:
        """End it as Ray does, and what is left of it for sure."""
        if self.process.poll() is not None:
            return
        doomed = descendants(self.process.pid)
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        for process in (*doomed, self.process.pid):
            _signal(process, signal.SIGKILL)
        self.process.wait()


class Cluster:
    """A head, which computes nothing, and as many workers with one core each as are asked for."""

    def __init__(self, workers: int = 2) -> None:
        # Sockets are in there: their paths must not be long, as those of pytest's folders are.
        self.folder = Path(tempfile.mkdtemp(prefix="ds-ray-", dir="/tmp"))
        self.environment = Environment(self.folder)
        # Not 127.0.0.1, which Ray takes for "find an address that others can reach".
        self._network = f"127.{random.randint(1, 254)}.{random.randint(0, 255)}"
        self.nodes: list[Node] = []
        self._commands: list[subprocess.Popen[str]] = []
        try:
            head = self._start({}, "--head", "--port=0", "--num-cpus=0", "--include-dashboard=0")
            until(lambda: head.started)
            # Ray writes it only after it has said that it is there.
            self.address = until(lambda: _text(self.folder / "0/ray_current_cluster"))
            self.complete(workers)
        except BaseException:
            self.stop()
            raise

    @property
    def workers(self) -> list[Node]:
        return [node for node in self.nodes[1:] if node.process.poll() is None]

    def complete(self, workers: int = 2) -> "Cluster":
        """The same cluster with as many workers as it should have."""
        for node in self.workers[workers:]:
            node.stop()
        added = [self.start_worker() for _ in range(workers - len(self.workers))]
        until(lambda: all(node.started for node in added))
        return self

    def command(self, *arguments: object) -> "subprocess.Popen[str]":
        """A dynascope command on this cluster that goes on by itself."""
        return self.start([sys.executable, "-m", "dynascope", *map(str, arguments)])

    def start(self, command: list[str]) -> "subprocess.Popen[str]":
        """The same with another way to start dynascope."""
        process = subprocess.Popen(
            [*command, "--ray", self.address],
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._commands.append(process)
        return process

    def end_commands(self) -> None:
        """Those that a failed test has left."""
        while self._commands:
            process = self._commands.pop()
            process.kill()
            process.communicate()

    def start_worker(self, **variables: str) -> Node:
        return self._start(variables, f"--address={self.address}", "--num-cpus=1")

    def _start(self, variables: dict[str, str], *options: str) -> Node:
        number = len(self.nodes)
        place, ip = self.folder / str(number), f"{self._network}.{number + 1}"
        self.nodes.append(Node(place, ip, self.environment(**variables), *options))
        return self.nodes[-1]

    def stop(self) -> None:
        self.end_commands()
        for node in reversed(self.nodes):
            node.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def descendants(process: int) -> list[int]:
    """The processes that a process has started, and those that they have, as far as they live."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, left = [], [process]
    while left:
        found += (begun := children.get(left.pop(), []))
        left += begun
    return found


def title(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def alive(process: int) -> bool:
    try:
        stat = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def _die_with_parent() -> None:
    """In a child, before it becomes another program: tests that are killed leave nothing."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def _signal(process: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


@contextlib.contextmanager
def cluster(workers: int = 2) -> Iterator[Cluster]:
    made = Cluster(workers)
    try:
        yield made
    finally:
        made.stop()

"""Shards on a Ray cluster: each is a task for one core, retried when its node is lost.

Only the process that sweeps decides what is missing and what is kept: results come back to it
through Ray's object store ("object"), or are staged by the workers in a folder that all nodes
share and moved into place by it ("shared"); see `remote_shard`. Ray says nothing on its own: what a
person should know is an error or a warning of one sentence.
"""

import contextlib
import math
import pickle
import time
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from dynascope import version
from dynascope.errors import DynascopeError
from dynascope.progress import Report
from dynascope.run_cost import expected_seconds
from dynascope.store.leftovers import clear_workshop
from dynascope.store.shard_write import ShardFiles
from dynascope.sweeps.ray_connection import REFUSALS, connected, head_of, knock, reason
from dynascope.sweeps.remote_shard import RemoteShard, SharedFolder, make_remotely
from dynascope.sweeps.shard_making import Keep, MakeShards, ShardToMake, SweepStatus

RETRIES = 10  # times that a shard is given to another node when its own is lost
_AHEAD = 2  # shards for each core that wait in Ray: a core that is done finds the next one there
_LOOK = 0.2  # seconds between reports
_ASK = 2.0  # seconds between questions to the cluster's head
_LOST = 15.0  # seconds without an answer after which it is gone
_PATIENCE = 30.0  # seconds without a core in the whole cluster before a warning
_GIVE_UP = 900.0  # and before it ends: nodes may be on their way, but not for ever
_AGAIN = "finished runs are saved; run the same command to resume"


class ClusterWarning(UserWarning):
    """A cluster that makes a sweep wait."""


class ClusterError(DynascopeError):
    """Something failed on the way."""

    code = 1  # not the user's mistake


class LostClusterError(ClusterError):
    """There is nothing left to ask: what Ray still has of it may crash when it is touched."""


@contextlib.contextmanager
def ray_workers(address: str, results: str, folder: Path) -> Iterator[MakeShards]:
    """What has shards made by a cluster, connected from the first stage that needs it on."""
    with contextlib.ExitStack() as opened:

        @cache
        def connection() -> tuple[Any, bool]:
            return opened.enter_context(connected(address))

        def work(
            shards: Sequence[ShardToMake], keep: Keep, status: SweepStatus, report: Report | None
        ) -> None:
            ray, guest = connection()
            shared = SharedFolder.of(folder) if results == "shared" else None
            try:
                Dispatch(ray, shards, keep, status, shared, guest).work(report)
            finally:
                if shared:  # what lost workers have left there
                    clear_workshop(shared.store, shared.staging)

        yield work


class Dispatch:
    """Shards out, results in."""

    def __init__(
        self,
        ray: Any,
        shards: Sequence[ShardToMake],
        keep: Keep,
        status: SweepStatus,
        shared: SharedFolder | None,
        guest: bool,  # on somebody else's connection
    ) -> None:
        options = {"num_cpus": 1, "max_retries": RETRIES, "scheduling_strategy": "SPREAD"}
        self._ray, self._task = ray, ray.remote(**options)(make_remotely)
        self._keep, self._status, self._shared, self._guest = keep, status, shared, guest
        self._waiting = deque(shards)
        self._out: dict[Any, ShardToMake] = {}  # by the reference of the result
        self._cores = Cores(ray)

    def work(self, report: Report | None) -> None:
        try:
            while self._waiting or self._out:
                with failures(self._ray):
                    self._send()
                    for reference in self._arrived(_LOOK):
                        self._take(reference)
                if report:
                    report(self._status)
        except LostClusterError:
            raise
        except BaseException:
            self._end()
            raise
        finally:
            if report and hasattr(report, "close"):
                report.close()

    def _send(self) -> None:
        most = max(1, _AHEAD * self._cores.count())  # counted each time: nodes come and go
        while self._waiting and len(self._out) < most:
            shard = self._waiting.popleft()
            jobs = tuple(shard.jobs[j] for j in range(len(shard.jobs)))
            parcel = RemoteShard(jobs, shard.positions, shard.batch, self._shared, shard.finishing)
            self._out[self._task.remote(version.__version__, pickle.dumps(parcel))] = shard

    def _arrived(self, seconds: float) -> list[Any]:
        """Everything that is there once something is, or after some time nothing."""
        out = list(self._out)
        first, _ = self._ray.wait(out, num_returns=1, timeout=seconds)
        return list(self._ray.wait(out, num_returns=len(out), timeout=0)[0]) if first else []

    def _take(self, reference: Any) -> None:
        result = self._ray.get(reference)
        if isinstance(result, ShardFiles):
            self._keep(result)
        else:
            result.adopt(self._shared)
        shard = self._out.pop(reference)
        self._status.finished_runs += len(shard.jobs)
        for config in shard.jobs.configs():
            self._status.finished_epochs += config.training.epochs
            self._status.finished_cost += expected_seconds(config)

    def _end(self) -> None:
        """Keep what has arrived and call the rest off."""
        with contextlib.suppress(Exception):
            for reference in self._arrived(0) if self._out else []:
                with contextlib.suppress(Exception):  # it may be what failed in the first place
                    self._take(reference)
        for reference in self._out if self._guest else ():  # else it ends with the connection
            with contextlib.suppress(Exception):
                self._ray.cancel(reference, force=True)


class Cores:
    """How many there are in the cluster at present, and whether there is a cluster still."""

    def __init__(self, ray: Any) -> None:
        self._ray, self._head = ray, head_of(ray)
        self._count, self._warned = 0, False
        self._asked = -math.inf
        self._answered = self._seen = time.monotonic()  # the head, and any core

    def count(self) -> int:
        now = time.monotonic()
        if now > self._asked + _ASK:
            self._asked = now
            if self._head_answers():
                self._answered = now
                self._count = int(self._ray.cluster_resources().get("CPU", 0))
            elif now > self._answered + _LOST:
                text = f"ray: the cluster's head no longer answers; {_AGAIN}."
                raise LostClusterError(text)
            self._judge(now)
        return self._count

    def _head_answers(self) -> bool:
        """Knocked before it is asked: Ray waits a minute for an answer, then ends the process."""
        try:
            if self._head:
                knock(self._head)
        except REFUSALS:
            return False
        return True

    def _judge(self, now: float) -> None:
        without = now - self._seen
        if self._count:
            self._seen, self._warned = now, False
        elif without > _GIVE_UP:
            raise ClusterError(
                f"ray: expected a node with a core, but the cluster had none for {without:.0f} "
                f"seconds; {_AGAIN}."
            )
        elif without > _PATIENCE and not self._warned:
            self._warned = True
            text = "ray: the cluster has no node with a core; the sweep waits until one joins."
            warnings.warn(ClusterWarning(text), stacklevel=5)


@contextlib.contextmanager
def failures(ray: Any) -> Iterator[None]:
    """Within its block what goes wrong in the cluster is one sentence."""
    try:
        yield
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, DynascopeError | MemoryError):
            raise cause from None
        if "No module named 'dynascope" in str(error):
            raise DynascopeError(_elsewhere()) from None
        raise ClusterError(f"ray: a worker failed ({reason(cause)}); {_AGAIN}.") from None
    except (ray.exceptions.RpcError, ray.exceptions.RaySystemError, OSError) as error:
        text = f"ray: the cluster failed ({reason(error)}); {_AGAIN}."
        raise LostClusterError(text) from None
    except ray.exceptions.RayError as error:
        text = f"ray: the cluster lost a shard ({reason(error)}); {_AGAIN}."
        raise ClusterError(text) from None


def _elsewhere() -> str:
    return (
        f"ray: expected dynascope {version.__version__} on every node, but one has none; install "
        "it there."
    )

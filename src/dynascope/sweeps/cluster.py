"""Shards on a Ray cluster: each is a task for one core, retried when its node is lost.

Only the process that sweeps decides what is missing and what is kept. Results come back through
Ray's object store and are written by that process ("object"), or are written by the workers
themselves into a folder that all nodes share ("shared"). Either way a shard is a pure function of
its jobs, so it has the same bits wherever it was computed.
"""

import contextlib
import logging
import os
import secrets
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynascope.engine import Job, Report, train_job
from dynascope.errors import DynascopeError, expected
from dynascope.store.files import TEMPORARY
from dynascope.store.index import SWEEP
from dynascope.store.shard_write import ShardFiles, make_shard
from dynascope.store.tensors import digest
from dynascope.sweeps.cost import expected_seconds
from dynascope.sweeps.work import Shard, SweepStatus

RESULTS = ("object", "shared")
_RETRIES = 10  # times that a shard is given to another node when its own is lost
_AHEAD = 2  # shards for each core that wait in Ray: a core that is done finds the next one there
_LOOK = 0.2  # seconds between reports


@dataclass(frozen=True)
class Parcel:
    """What a worker is sent: everything that a shard follows from, and where it goes."""

    jobs: tuple[Job, ...]
    positions: tuple[int, ...]
    batch: int
    version: str
    shared: tuple[str, str] | None = None  # folder, digest of its sweep.json


def make(parcel: Parcel) -> ShardFiles | str:
    """In a worker: train a shard; returns its files, or their name if they are written already."""
    from dynascope import __version__

    if parcel.version != __version__:
        raise expected("worker", f"dynascope {parcel.version} like the sweep's", __version__)
    folder = None if parcel.shared is None else _shared_folder(*parcel.shared)
    runs = [train_job(job) for job in parcel.jobs]
    files = make_shard(runs, parcel.positions, parcel.batch)
    if folder is None:
        return files
    temporary = folder / TEMPORARY / secrets.token_hex(6)
    files.write(folder, temporary)
    temporary.rmdir()
    return files.parquet_name


def _shared_folder(name: str, ledger: str) -> Path:
    """The folder, once it is sure that it is the very same one on this node."""
    path = Path(name)
    with contextlib.suppress(OSError):
        if digest((path / SWEEP).read_bytes()) == ledger:
            return path
    raise DynascopeError(
        f"{name}: expected a folder that all nodes share, but {os.uname().nodename} does not see "
        "the sweep in it; without `--results shared` runs come back through Ray itself."
    )


def work_on_ray(
    shards: Sequence[Shard],
    keep: Callable[[ShardFiles], None],
    status: SweepStatus,
    address: str,
    results: str,
    folder: Path,
    report: Report | None,
) -> None:
    """Have every shard made by the cluster, and keep each as it arrives."""
    if results not in RESULTS:
        raise expected("results", f"one of {', '.join(RESULTS)}", results)
    shared = None
    if results == "shared":
        shared = (str(folder.resolve()), digest((folder / SWEEP).read_bytes()))
    with connected(address) as ray:
        _Dispatch(ray, shards, keep, status, shared).work(report)


class _Dispatch:
    """Shards out, results in."""

    def __init__(
        self,
        ray: Any,
        shards: Sequence[Shard],
        keep: Callable[[ShardFiles], None],
        status: SweepStatus,
        shared: tuple[str, str] | None,
    ) -> None:
        options = {"num_cpus": 1, "max_retries": _RETRIES, "scheduling_strategy": "SPREAD"}
        self._ray, self._task = ray, ray.remote(**options)(make)
        self._keep, self._status, self._shared = keep, status, shared
        self._waiting = deque(shards)
        self._out: dict[Any, Shard] = {}  # by the reference of the result

    def work(self, report: Report | None) -> None:
        try:
            while self._waiting or self._out:
                self._send()
                self._collect(_LOOK)
                if report:
                    report(self._status)
        except BaseException:
            self._collect(0)  # what has arrived is kept
            for reference in self._out:
                self._ray.cancel(reference, force=True)
            raise
        finally:
            if report and hasattr(report, "close"):
                report.close()

    def _send(self) -> None:
        from dynascope import __version__

        # Asked for each time: nodes come and go.
        cores = int(self._ray.cluster_resources().get("CPU", 0))
        while self._waiting and len(self._out) < max(1, _AHEAD * cores):
            shard = self._waiting.popleft()
            jobs = tuple(shard.jobs[j] for j in range(len(shard.jobs)))
            parcel = Parcel(jobs, shard.positions, shard.batch, __version__, self._shared)
            self._out[self._task.remote(parcel)] = shard

    def _collect(self, seconds: float) -> None:
        if not self._out:
            return
        ready, _ = self._ray.wait(list(self._out), num_returns=len(self._out), timeout=seconds)
        for reference in ready:
            with _failures(self._ray):
                result = self._ray.get(reference)
            if isinstance(result, ShardFiles):
                self._keep(result)
            shard = self._out.pop(reference)
            self._status.finished_runs += len(shard.jobs)
            for config in shard.jobs.configs():
                self._status.finished_epochs += config.training.epochs
                self._status.finished_cost += expected_seconds(config)


@contextlib.contextmanager
def _failures(ray: Any) -> Iterator[None]:
    """Within its block what went wrong on a node is one sentence."""
    try:
        yield
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, DynascopeError | MemoryError):
            raise cause from None
        raise DynascopeError(f"ray: a worker failed: {cause!r}.") from None
    except ray.exceptions.RayError as error:
        reason = " ".join(str(error).split())[:200]
        raise DynascopeError(
            f"ray: the cluster lost a shard {_RETRIES} times ({reason}); what is finished is kept: "
            "run the same again."
        ) from None


@contextlib.contextmanager
def connected(address: str) -> Iterator[Any]:
    """Ray, connected to the cluster that is meant: `local` starts one on this machine."""
    try:
        import ray
    except ImportError:
        raise DynascopeError("ray: not installed; pip install 'dynascope[ray]' adds it.") from None
    if ray.is_initialized():  # a notebook that is on a cluster already
        yield ray
        return
    where: dict[str, Any] = {"include_dashboard": False} if address == "local" else {}
    if address != "local":
        where["address"] = address
    try:
        ray.init(**where, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, ValueError, RuntimeError, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DynascopeError(
            f"ray: expected a cluster at {address}, but found none ({reason}); `ray start --head` "
            "starts one, and --ray local needs none."
        ) from None
    try:
        yield ray
    finally:
        ray.shutdown()

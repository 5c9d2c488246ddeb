"""Shards on this machine: threads take one run after another, across shards."""

import contextlib
from collections.abc import Sequence

from dynascope.engine import Trainers, count_threads
from dynascope.errors import DynascopeError
from dynascope.progress import Report
from dynascope.sweeps.shard_making import Collector, JobsOfShards, Keep, ShardToMake, SweepStatus


def work_locally(
    shards: Sequence[ShardToMake],
    keep: Keep,
    status: SweepStatus,
    report: Report | None,
    threads: int | None,
) -> None:
    """Train every job and save each shard as soon as its last run is done.

    No thread waits for the end of a shard: it goes on with the next one's runs. When it ends early
    the finished runs of unfinished shards are kept, too.
    """
    jobs = JobsOfShards(shards)
    collector = Collector(shards, keep)
    try:
        Trainers(jobs, collector.add, status).work(count_threads(threads, len(jobs)), report)
    except KeyboardInterrupt:
        collector.flush()
        raise
    except BaseException:
        with contextlib.suppress(DynascopeError):  # the disk may be what is in the way
            collector.flush()
        raise

"""How a sweep is carried out; none of it changes a run."""

from dataclasses import dataclass

RESULTS = ("object", "shared")


@dataclass(frozen=True)
class Execution:
    """Where shards are made, and what is done about obstacles."""

    threads: int | None = None
    ray: str | None = None  # "auto", "local" or an address
    results: str = "object"  # how they come back from Ray: "object" store or "shared" folder
    shard_seconds: float | None = None
    wait: bool = False  # for another sweep of the same folder to end
    strict: bool = False  # damaged files are an error

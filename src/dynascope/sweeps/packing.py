"""Runs cut into shards of about equal cost.

A shard's runs have one shape and one record (its tensors are joined), it stays small enough to hold
in memory and large enough that opening a store of many is quick.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from dynascope.config import Config
from dynascope.run_cost import expected_seconds
from dynascope.run_size import SHARD_BYTES, recorded_bytes
from dynascope.store.save import SHARD_RUNS, cut_by_size, shape_key

Item = tuple[int, int]  # index of a config, index of a seed
_SHARDS = 200  # as many as a sweep is cut into, where the limits below allow it
_LEAST, _MOST = 2.0, 60.0  # seconds of computing: what a crash may cost


def pack(
    items: Sequence[Item], configs: Sequence[Config], seconds: float | None = None
) -> list[list[Item]]:
    """Shards of about `seconds` each (None: as suits the whole), the dearest runs first.

    A dear run that starts last keeps everybody waiting, so it starts first.
    """
    groups: dict[str, list[Item]] = {}
    keys = {c: shape_key(configs[c]) for c in {c for c, _ in items}}
    for item in items:
        groups.setdefault(keys[item[0]], []).append(item)
    costs = {c: expected_seconds(configs[c]) for c in keys}
    if seconds is None:
        whole = sum(costs[c] for c, _ in items)
        seconds = min(max(whole / _SHARDS, _LEAST), _MOST)
    shards = [
        shard
        for group in groups.values()
        for shard in _cut(group, [costs[c] for c, _ in group], configs, seconds)
    ]
    return sorted(shards, key=lambda shard: -max(costs[c] for c, _ in shard))


def _cut(
    group: list[Item], costs: Iterable[float], configs: Sequence[Config], seconds: float
) -> list[list[Item]]:
    """Equal parts by cost, each within the limits."""
    ends = np.cumsum(np.fromiter(costs, float))
    sizes = [recorded_bytes(configs[c]) for c, _ in group]
    least = max(-(-len(group) // SHARD_RUNS), -(-sum(sizes) // SHARD_BYTES))  # by the limits
    parts = max(least, round(ends[-1] / seconds))
    bounds = np.searchsorted(ends, np.arange(1, parts) * ends[-1] / parts, side="left") + 1
    shards = [part.tolist() for part in np.split(np.arange(len(group)), bounds) if len(part)]
    return [[group[i] for i in piece] for shard in shards for piece in cut_by_size(shard, sizes)]

"""Everything in a store against its checksums."""

import warnings
from functools import partial

import numpy as np

from dynascope.store.files import PathLike
from dynascope.store.index import Damage, DamageWarning, Index, open_index
from dynascope.store.schema import SPANS
from dynascope.store.shard_read import Shard
from dynascope.store.tensors import DamagedError


def check(folder: PathLike) -> Index:
    """Open a store and read all of it; `damage` of what is returned names every damaged file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)  # the caller is told all at once
        index = open_index(folder)
    known = {each.path for each in index.damage}
    for shard in index.shards:
        for path, look in ((shard.path, shard.check), (shard.tensors.path, partial(_runs, shard))):
            try:
                if path not in known:
                    look()
            except DamagedError as error:
                index.damage.append(Damage.of(path, error))
                break  # without its table nothing is known of a shard's trajectories
    return index


def _runs(shard: Shard) -> None:
    """The trajectory of every run of a shard."""
    spans = [f"{what}_{end}" for what in SPANS for end in ("begin", "end")]
    columns = shard.table([*spans, "data", "checksum"]).to_pydict()
    for row in np.arange(len(shard)):
        at = {what: (columns[f"{what}_begin"][row], columns[f"{what}_end"][row]) for what in SPANS}
        shard.tensors.run(at, columns["data"][row], columns["checksum"][row])

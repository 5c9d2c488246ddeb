"""Everything in a store against its checksums."""

import warnings
from collections.abc import Container
from functools import partial
from pathlib import Path

import numpy as np

from dynascope.store.damage import Damage, DamagedError, DamageWarning
from dynascope.store.files import PathLike
from dynascope.store.index import Index, open_all, open_index
from dynascope.store.names import ANALYSES
from dynascope.store.run_rules import check_kept
from dynascope.store.schema import SPANS
from dynascope.store.shard_read import Shard
from dynascope.store.sidecar import Sidecar


def check(folder: PathLike) -> Index:
    """Open a store and read all of it; `damage` of what is returned names every damaged file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)  # the caller is told all at once
        index = open_index(folder)
    known = {each.path for each in index.damage}
    for shard in index.shards:
        if found := damage_of(shard, known):
            index.damage.append(found)
    index.damage.extend(_sidecars(index.folder))
    return index


def damage_of(shard: Shard, known: Container[Path] = ()) -> Damage | None:
    """What is damaged of a shard, but for files that are `known` to be; without its table nothing
    is known of its trajectories."""
    for path, look in ((shard.path, shard.check), (shard.tensors.path, partial(_runs, shard))):
        try:
            if path not in known:
                look()
        except DamagedError as error:
            return Damage.of(path, error)
    return None


def _sidecars(folder: Path) -> list[Damage]:
    """The damaged ones."""
    opened, damage = open_all(folder, ANALYSES, Sidecar.open)
    for sidecar in opened:
        try:
            sidecar.check()
        except DamagedError as error:
            damage.append(Damage.of(sidecar.path, error))
    return damage


def _runs(shard: Shard) -> None:
    """The trajectory of every run of a shard."""
    spans = [f"{what}_{end}" for what in SPANS for end in ("begin", "end")]
    columns = shard.table([*spans, "data", "checksum", "last_epoch"]).to_pydict()
    for row in np.arange(len(shard)):
        at = {what: (columns[f"{what}_begin"][row], columns[f"{what}_end"][row]) for what in SPANS}
        tensors = shard.tensors.run(at, columns["data"][row], columns["checksum"][row])
        check_kept(tensors, columns["last_epoch"][row])

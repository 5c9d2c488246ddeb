"""Runs on disk: a folder of shards that DuckDB and pandas read as they are (see FORMAT.md)."""

from dynascope.store.damage import Damage as Damage
from dynascope.store.damage import DamageWarning as DamageWarning
from dynascope.store.query import query as query
from dynascope.store.save import merge as merge
from dynascope.store.save import save as save
from dynascope.store.stored import StoredRun as StoredRun
from dynascope.store.stored import StoredRuns as StoredRuns
from dynascope.store.stored import load as load

"""Runs on disk: a folder of shards that DuckDB and pandas read as they are (see FORMAT.md)."""

from dynascope.store.index import Damage as Damage
from dynascope.store.index import DamageWarning as DamageWarning
from dynascope.store.query import query as query
from dynascope.store.save import merge as merge
from dynascope.store.save import save as save
from dynascope.store.stored import StoredRun as StoredRun
from dynascope.store.stored import StoredRuns as StoredRuns
from dynascope.store.stored import load as load

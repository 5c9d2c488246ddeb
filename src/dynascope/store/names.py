"""The names in a store's folder: which there are, and which are ours by their form (see FORMAT.md).

What has another name was put there by somebody else: it is never moved and never deleted.
"""

import re

RUNS = "runs"
TRAJECTORIES = "trajectories"
ANALYSES = "analyses"
MARKS = "marks"
DAMAGED = "damaged"
FOLDERS = (RUNS, TRAJECTORIES, ANALYSES, MARKS, DAMAGED)
SWEEP = "sweep.json"
LOCK = ".lock"
TEMPORARY = ".partial"  # files in the making
OWN_TEMPORARY = f"{TEMPORARY}/sweep"  # of the one process that holds the lock

TABLE = re.compile(r"(?P<name>[0-9a-f]{12})-(?P<footer>[0-9a-f]{16})\.parquet")
_TENSORS = re.compile(r"[0-9a-f]{12}\.safetensors")
_MARK = re.compile(r"[0-9a-f]{32}\.json")
_IN_THE_MAKING = re.compile(r"(?P<name>.+)\.[0-9a-f]{12}")  # as `files.write` makes them
# Folders of writers: a sweep's own, one that saves, a cluster's workers and each of their shards.
_WORKSHOP = re.compile(r"sweep|(ray-)?[0-9a-f]{12}")


def is_shard_file(name: str) -> bool:
    """Whether it is the name of a table or of a trajectory file.

    >>> is_shard_file("0123456789ab.safetensors"), is_shard_file("0123456789ab.safetensors.bak")
    (True, False)
    """
    return bool(TABLE.fullmatch(name) or _TENSORS.fullmatch(name))


def is_file_of_ours(name: str) -> bool:
    """Whether dynascope gives this name to files, finished or in the making.

    >>> is_file_of_ours("sweep.json.0123456789ab"), is_file_of_ours("thesis.tex")
    (True, False)
    """
    making = _IN_THE_MAKING.fullmatch(name)
    name = making["name"] if making else name
    return is_shard_file(name) or bool(_MARK.fullmatch(name)) or name == SWEEP


def is_workshop(name: str) -> bool:
    """Whether dynascope gives this name to folders for files in the making."""
    return bool(_WORKSHOP.fullmatch(name)) or name in (RUNS, TRAJECTORIES, ANALYSES)

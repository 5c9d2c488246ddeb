"""What the footers of shards and sidecars must say; FORMAT.md has the meaning of each field."""

from dynascope.store.fields import (
    FLAG,
    REAL,
    Field,
    ValueRule,
    digits,
    either,
    list_of,
    maybe,
    table_of,
    table_with,
    text,
    whole,
)

LARGEST = 2**22  # bytes of a footer; ours have 2**15
MOST_COLUMNS = 4096
_LONGEST_NAME = 200
_LARGEST_FILE = 2**50
_TIME = whole(0, 2**63 - 1)  # nanoseconds since 1970
_WHOLE = whole(-(2**63), 2**63 - 1)
_NAME = text(_LONGEST_NAME)
_NAMES = list_of(_NAME, MOST_COLUMNS)
_SCALAR = either(_WHOLE, REAL, FLAG, _NAME)
# What is not a digest equals none: only `check` looks at all of them.
_COLUMNS = ValueRule(
    lambda value: isinstance(value, dict) and len(value) <= MOST_COLUMNS,
    f"a table of at most {MOST_COLUMNS}",
)
COLUMNS = {"columns": Field(table_of(_NAME, digits(32), MOST_COLUMNS))}

FORMAT = whole(0, 2**31 - 1)  # looked at first: what a newer one says of the rest is not known

SHARD = {
    "batch": Field(_TIME),
    "tensors": Field(table_with({"size": whole(8, _LARGEST_FILE), "header": digits(32)})),
    "steps": Field(maybe(_NAMES)),
    "curves": Field(_NAMES, since=2),
    "options": Field(table_of(_NAME, _NAME, MOST_COLUMNS), since=2),
    "as_before": Field(
        table_of(_NAME, maybe(either(_SCALAR, list_of(_SCALAR, MOST_COLUMNS))), MOST_COLUMNS),
        since=2,
    ),
    "slots": Field(table_of(_NAME, _NAMES, MOST_COLUMNS), since=2),
    "columns": Field(_COLUMNS),
}
SIDECAR = {
    "batch": Field(_TIME),
    "versions": Field(table_of(_NAME, whole(0, 2**31 - 1), MOST_COLUMNS)),
    "columns": Field(_COLUMNS),
}

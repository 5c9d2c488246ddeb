"""How large a column is once decoded, read from the headers of its pages alone."""

import contextlib
import io
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynascope.store.damage import DamagedError
from dynascope.store.parquet_file import column_range
from dynascope.store.parquet_pages import column_size

STORES = Path(__file__).parents[1] / "data" / "stores"
FILES = sorted(STORES.glob("*/*/*/*.parquet"))


def chunks(contents: bytes) -> list[tuple[pq.ColumnChunkMetaData, memoryview]]:
    columns = pq.read_metadata(pa.BufferReader(contents)).row_group(0)
    found = []
    for number in range(columns.num_columns):
        _, begin, end = column_range(columns.column(number))
        found.append((columns.column(number), memoryview(contents)[begin:end]))
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parts[-4]}-{file.stem[:6]}")
def test_committed_files(file: Path) -> None:
    """The footer of an honest file says the same, but for the headers themselves."""
    for about, chunk in chunks(file.read_bytes()):
        size = column_size(chunk)
        assert size.values == about.num_values
        assert 0 <= about.total_uncompressed_size - size.decoded < 2000
        assert about.has_dictionary_page or not size.dictionary


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_many_pages(version: str) -> None:
    sink = io.BytesIO()
    lists = pa.ListArray.from_arrays(
        pa.array([0, 90_000, 200_000]), pa.array(np.arange(200_000) / 3)
    )
    table = pa.table({"curve": lists, "word": ["a" * 500, "b"]})
    pq.write_table(
        table,
        sink,
        use_dictionary=False,
        data_page_size=2**12,
        data_page_version=version,
        compression="zstd",
    )
    (curve, chunk), _ = chunks(sink.getvalue())
    assert column_size(chunk).values == curve.num_values == 200_000
    assert column_size(chunk).decoded >= 8 * 200_000


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_bytes(data: st.DataObject) -> None:
    """Nonsense is refused; nothing else is raised, and it ends."""
    whole = bytes(chunks(FILES[0].read_bytes())[0][1])
    at = data.draw(st.integers(0, min(60, len(whole) - 1)))
    changed = whole[:at] + data.draw(st.binary(min_size=1, max_size=9)) + whole[at + 1 :]
    given = data.draw(st.sampled_from([changed, changed[:at], zlib.compress(changed)]))
    with contextlib.suppress(DamagedError):
        column_size(memoryview(given))

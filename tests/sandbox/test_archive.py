"""Archives of answers: what goes in comes out, whatever it is, and small where it can be."""

from typing import Any

import numpy as np
import pytest
from archives import unpacked
from hypothesis import given
from hypothesis import strategies as st

from dynascope.sandbox.archive import SeriesCoding, Stored, packed

tables = st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from([4, 8])).flatmap(
    lambda size: st.tuples(
        st.just(size),
        st.sampled_from(["rows", "columns"]),
        st.binary(min_size=size[0] * size[1] * size[2], max_size=size[0] * size[1] * size[2]),
    )
)


@given(tables, st.binary())
def test_the_very_bytes_come_out(table: Any, other: bytes) -> None:
    (rows, columns, width), time, contents = table
    coding = SeriesCoding(rows, columns, width, time)
    found = unpacked(packed({"/table": Stored(contents, coding), "/other": Stored(other)}))
    assert found == {"/table": contents, "/other": other}


@given(st.dictionaries(st.text(), st.binary()))
def test_any_path_is_a_name(answers: dict[str, bytes]) -> None:
    assert unpacked(packed({path: Stored(each) for path, each in answers.items()})) == answers


def test_the_same_answers_give_the_same_bytes() -> None:
    answers = {"/a": Stored(b"a" * 1000)}
    assert packed(answers) == packed(answers)


@pytest.mark.parametrize("time", ["rows", "columns"])
def test_slow_changes_take_little(time: Any) -> None:
    walk = np.cumsum(np.random.default_rng(0).normal(0, 1e-3, (500, 50)), axis=0) + 1
    table = np.ascontiguousarray((walk if time == "rows" else walk.T).astype("<f4"))
    coding = SeriesCoding(*table.shape, 4, time)
    plain = len(packed({"/table": Stored(table.tobytes())}))
    assert len(packed({"/table": Stored(table.tobytes(), coding)})) < 0.85 * plain

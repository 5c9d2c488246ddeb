"""What the columns of analyses must hold, and agree in, whoever wrote them."""

from typing import Any

import pyarrow as pa
import pytest

from dynascope.analysis_columns import PARTS, columns_of
from dynascope.store.column_rules import check_agreements, check_column
from dynascope.store.damage import DamagedError
from dynascope.store.sidecar import SCHEMA
from dynascope.store.sidecar_rules import AGREEMENTS, RULES


def column(name: str, *values: Any) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values, SCHEMA.field(name).type)])


def test_every_rule_is_of_a_column() -> None:
    assert {*RULES} <= {*SCHEMA.names}
    assert {name for each in AGREEMENTS for name in each.columns} <= {*SCHEMA.names}


def test_every_whole_number_has_limits() -> None:
    """But for weights of sums, which may be any."""
    whole = {name for name, each in columns_of().items() if "int64" in each.type}
    assert whole - {*RULES} == {"alias_weights"}


WRONG = [
    ("preferred_token_end", -1),
    ("preferred_token_start", 2**40),
    ("heaviest_assembler", -1),
    ("heaviest_assembler", 2**40),
    ("unsafe_epochs", -1),
    ("step_over_length_most_epoch", 2**60),
    ("speed_resolution", -3),
    ("tandem_lag", 2**60),
    ("speed_at_drops", [1.0, None]),
    ("attention_by_token_end", [None]),
    ("plateau_epochs", [-1]),
    ("plateau_negative", [-1]),
    ("plateau_gradient_ratio", [None]),
    ("plateau_verdicts", ["x" * 100]),
    ("bounds_epochs", -1),
    ("paper_bound_fails", 2**60),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_what_no_analysis_finds_is_damage(name: str, value: Any) -> None:
    check_column(name, column(name, None, None), RULES.get(name))
    with pytest.raises(DamagedError, match=f"its column {name} has values that are not"):
        check_column(name, column(name, None, value), RULES.get(name))


OF_PARTS = ("gradient_at_drops", "gradient_at_spikes", "speed_at_drops")


@pytest.mark.parametrize("name", OF_PARTS)
@pytest.mark.parametrize(
    ("whole", "part", "right"),
    [
        ([1.0, 2.0], [3.0, 4.0], True),
        ([], [], True),
        ([1.0], None, True),  # nothing that moves: there is no ratio
        (None, [1.0], True),
        (None, None, True),
        ([1.0], [], False),
        ([1.0], [1.0, 2.0], False),
    ],
)
def test_parts_have_as_many_numbers_as_the_whole(
    name: str, whole: Any, part: Any, right: bool
) -> None:
    rest = [f"{name}_{each}" for each in PARTS]
    given = {name: column(name, [5.0], whole)}
    given |= {each: column(each, [6.0], whole) for each in rest}
    given[rest[2]] = column(rest[2], [7.0], part)
    if right:
        check_agreements(given, AGREEMENTS)
        return
    with pytest.raises(DamagedError, match="disagree: a number for each drop or spike"):
        check_agreements(given, AGREEMENTS)


PLATEAUS = tuple(columns_of(["saddles"]))
ONE_EACH = dict(zip(PLATEAUS, ([4], ["slope"], [0.5], [3], [0.1], [0.2], [0.3]), strict=True))


def test_of_a_plateau_without_a_drop_shares_are_null() -> None:
    for name in ("plateau_escape_five", "plateau_escape_chance", "plateau_exit_five"):
        check_column(name, column(name, None, [0.5, None]), RULES.get(name))


@pytest.mark.parametrize("name", PLATEAUS)
@pytest.mark.parametrize("times", [0, 2])
def test_every_plateau_has_all_its_values(name: str, times: int) -> None:
    given = {each: column(each, None, values) for each, values in ONE_EACH.items()}
    check_agreements(given, AGREEMENTS)
    given[name] = column(name, None, ONE_EACH[name] * times)
    with pytest.raises(DamagedError, match="disagree: a value for each plateau"):
        check_agreements(given, AGREEMENTS)


def test_attention_is_of_all_tokens_at_both_ends() -> None:
    names = "attention_by_token_start", "attention_by_token_end"
    check_agreements({name: column(name, [0.1, 0.2], None) for name in names}, AGREEMENTS)
    other = {names[0]: column(names[0], [0.1, 0.2]), names[1]: column(names[1], [0.1, 0.2, 0.3])}
    with pytest.raises(DamagedError, match="disagree: both of all tokens"):
        check_agreements(other, AGREEMENTS)

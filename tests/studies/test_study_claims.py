"""Every claim of every study comes out right where it is true and where it is false, together with
the other claims of its study and at the paper's numbers of runs; and nothing comes of nothing."""

import numpy as np
import pytest
from claim_cases import CASES
from study_tables import Tables, blank_tables, emptied, unanalysed

from dynascope.studies.catalogue import NAMES, study_of
from dynascope.studies.claims import FAILS, HOLDS, IN_PART, OPEN, Claim, Judgement, judge
from dynascope.studies.sources import MadeTable

ALL_CLAIMS = {(study, claim.name): claim for study in NAMES for claim in study_of(study).claims}
SEVERAL = [key for key, claim in ALL_CLAIMS.items() if len(claim.conditions) > 1]
ABOUT_ACCURACY = {  # that say something of runs which nobody analysed
    *("all from d=8 on", "not all below", "success rises with d", "no harm"),
    *("one seed is unsteady", "the mean is regular", "options matter", "a third row costs success"),
    *("p=2 first helps p=3", "p=2 first helps larger p"),
    *("nothing above p=4", "something up to p=4"),
}
TOLD_WITHOUT_RUNS = {"a head exists", "no gradient"}


def judged(key: tuple[str, str], tables: Tables) -> Judgement:
    study, name = key
    found = judge(study_of(study).claims, tables)
    (one,) = (each for each in found if each.claim.name == name)
    return one


def filled(key: tuple[str, str], wanted: dict[str, bool]) -> Tables:
    tables = blank_tables(key[0])
    CASES[key](tables, wanted)
    return tables


def all_of(claim: Claim, true: bool) -> dict[str, bool]:
    return dict.fromkeys(claim.conditions, true)


def test_every_claim_has_a_case() -> None:
    assert CASES.keys() == ALL_CLAIMS.keys()


@pytest.mark.parametrize("key", ALL_CLAIMS, ids=": ".join)
@pytest.mark.parametrize(("true", "verdict"), [(True, HOLDS), (False, FAILS)])
def test_a_claim_comes_out_right(key: tuple[str, str], true: bool, verdict: str) -> None:
    found = judged(key, filled(key, all_of(ALL_CLAIMS[key], true)))
    assert {each.condition: each.verdict for each in found.measures} == dict.fromkeys(
        ALL_CLAIMS[key].conditions, verdict
    )
    assert found.verdict == verdict


@pytest.mark.parametrize("key", SEVERAL, ids=": ".join)
def test_conditions_are_told_apart(key: tuple[str, str]) -> None:
    """The first is false and the others are true."""
    first, *others = ALL_CLAIMS[key].conditions
    found = judged(key, filled(key, {first: False, **dict.fromkeys(others, True)}))
    assert [each.verdict for each in found.measures] == [FAILS, *[HOLDS] * len(others)]
    assert found.verdict == IN_PART


@pytest.mark.slow
@pytest.mark.parametrize("key", ALL_CLAIMS.keys(), ids=": ".join)
def test_a_few_runs_without_a_finding_change_no_verdict(key: tuple[str, str]) -> None:
    """One in fifty was not analysed, or diverged too (which does count where success does)."""
    for diverged in (False, key[1] not in ABOUT_ACCURACY):
        tables = filled(key, all_of(ALL_CLAIMS[key], True))
        for table in tables.values():
            if "seed" in table:
                unanalysed(table, np.arange(len(table)) % 50 == 7, diverged)
        assert judged(key, tables).verdict == HOLDS, diverged


@pytest.mark.parametrize("study", NAMES)
def test_nothing_follows_from_no_runs(study: str) -> None:
    tables = {name: emptied(table) for name, table in blank_tables(study).items()}
    assert verdicts(study, tables) == {OPEN}


@pytest.mark.parametrize("study", NAMES)
@pytest.mark.parametrize(
    "seeds", [2, *(pytest.param(each, marks=pytest.mark.slow) for each in (1, 3))]
)
def test_nothing_follows_from_a_few_runs(study: str, seeds: int) -> None:
    """However alike they are: solved and analysed with one outcome."""
    for true in (True, False):
        for key in (key for key in CASES if key[0] == study and key[1] not in TOLD_WITHOUT_RUNS):
            tables = blank_tables(study, seeds)
            CASES[key](tables, all_of(ALL_CLAIMS[key], true))
            assert judged(key, tables).verdict == OPEN, key


@pytest.mark.parametrize("study", NAMES)
def test_nothing_follows_from_runs_that_diverged(study: str) -> None:
    tables = blank_tables(study)
    for source in study_of(study).sources:
        table = tables[source.name]
        if isinstance(source, MadeTable):
            table.columns.update({name: values * np.nan for name, values in table.columns.items()})
        else:
            unanalysed(table, np.ones(len(table), bool), diverged=True)
    assert verdicts(study, tables) == {OPEN}


@pytest.mark.parametrize("study", NAMES)
def test_runs_that_nobody_analysed_tell_their_accuracy_alone(study: str) -> None:
    found = judge(study_of(study).claims, blank_tables(study))
    decided = {each.claim.name for each in found if each.verdict != OPEN}
    assert decided <= ABOUT_ACCURACY | TOLD_WITHOUT_RUNS


def verdicts(study: str, tables: Tables) -> set[str]:
    return {each.verdict for each in judge(study_of(study).claims, tables)}

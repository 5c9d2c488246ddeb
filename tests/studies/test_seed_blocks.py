"""No claim is judged on seeds on which something was chosen, and no two sweeps share seeds."""

from itertools import pairwise

import pytest

from dynascope.errors import DynascopeError
from dynascope.studies.seed_blocks import BLOCK, chosen_on, ledger, seeds_of


def test_blocks_of_seeds_do_not_meet() -> None:
    blocks = [seeds_of(name, BLOCK) for name in ledger()] + [chosen_on()]
    ordered = sorted(blocks, key=lambda block: block.start)
    for one, other in pairwise(ordered):
        assert one.stop <= other.start


def test_a_sweep_has_no_more_seeds_than_its_block() -> None:
    with pytest.raises(DynascopeError, match="at most 10000 seeds"):
        seeds_of("default", BLOCK + 1)


def test_rehearsals_take_seeds_that_nothing_is_judged_on() -> None:
    known = chosen_on()
    blocks = [seeds_of(name, BLOCK, rehearsal=True) for name in ledger()]
    assert all(block[0] in known and block[-1] in known for block in blocks)
    assert len({block.start for block in blocks}) == len(blocks)

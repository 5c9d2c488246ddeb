"""Epochs that were not kept, computed again: every kind of run, the same bits, in any order."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from analysed import TINY
from hypothesis import given, settings
from hypothesis import strategies as st
from wasm_node import same_bits

import dynascope as ds
from dynascope.epoch_replay import EpochReplay
from dynascope.errors import DynascopeError

EPOCHS = 24


def config(**changes: Any) -> ds.Config:
    named = {name.replace("__", "."): value for name, value in changes.items()}
    return ds.Config().replace(TINY | {"training.epochs": EPOCHS} | named)


def trained(**changes: Any) -> Callable[[dict[str, Any]], ds.Run]:
    def make(record: dict[str, Any]) -> ds.Run:
        return ds.train(config(**changes).replace(record), [3], progress=False)[0]

    return make


def branched(record: dict[str, Any]) -> ds.Run:
    """Weights changed at the end of an epoch, and in the middle of another one."""
    trainer = ds.Trainer(config().replace(record), seed=3)
    trainer.advance(5)
    trainer.parameters = trainer.parameters.replace(query=trainer.parameters.query + 1)
    trainer.advance(6)
    trainer.advance_steps(2)
    trainer.parameters = trainer.parameters.replace(query=trainer.parameters.query - 1)
    trainer.advance(EPOCHS - 11)
    return trainer.run


def changed(record: dict[str, Any]) -> ds.Run:
    """Options changed on the way: batch, rule of the optimizer, learning rate."""
    trainer = ds.Trainer(config().replace(record), seed=3)
    for options in ({"training.batch": 5}, {"training.optimizer": "adamw"}, {"training.lr": 0.1}):
        trainer.advance(6)
        trainer.change(options)
    trainer.advance(6)
    return trainer.run


def of_own_data(record: dict[str, Any]) -> ds.Run:
    tokens = np.random.default_rng(0).integers(0, 2, (40, 5))
    data = ds.Data(train=(tokens, tokens[:, 0]))
    return ds.train(config().replace(record), [3], data=data, progress=False)[0]


KINDS: dict[str, Callable[[dict[str, Any]], ds.Run]] = {
    "plain": trained(),
    "double": trained(precision="float64"),
    "cosine": trained(training__schedule="cosine"),
    "clipped, unseen": trained(training__clip=0.1, record__unseen=True),
    "diverged": trained(training__lr=1e3, training__optimizer="sgd", model__norm="none"),
    "branched": branched,
    "changed": changed,
    "own data": of_own_data,
}
RECORDS = [(0, 0), (0, 7), (10, 0), (5, 50)]


def pair(kind: str, every: tuple[int, int]) -> tuple[ds.Run, ds.Run]:
    """The run as it would be with all weights kept, and with few."""
    few = {"record.weights_every": every[0], "record.state_every": every[1]}
    return KINDS[kind]({"record.weights_every": 1}), KINDS[kind](few)


@pytest.mark.parametrize("every", RECORDS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_epoch_has_its_bits(kind: str, every: tuple[int, int]) -> None:
    whole, few = pair(kind, every)
    last = few.checked_epoch(-1)
    wanted = np.stack([whole.parameters(epoch).flat for epoch in range(last + 1)])
    assert same_bits(EpochReplay(few).weights(0, last).ravel(), wanted)
    replay = EpochReplay(few)
    for epoch in (last, 1, last // 2, last // 2 + 1, 0, last - 1):
        assert same_bits(replay.weights(epoch, epoch)[0], wanted[epoch])


@settings(max_examples=25, deadline=None)
@given(st.sampled_from([*KINDS]), st.lists(st.tuples(*[st.integers(0, EPOCHS)] * 2), max_size=6))
def test_in_any_order(kind: str, spans: list[tuple[int, int]]) -> None:
    whole, few = pair(kind, (0, 7))
    last, replay = few.checked_epoch(-1), EpochReplay(few)
    for span in spans:
        first, end = (min(each, last) for each in sorted(span))
        wanted = [whole.parameters(epoch).flat for epoch in range(first, end + 1)]
        assert same_bits(replay.weights(first, end).ravel(), np.stack(wanted))


class Enough(Exception):
    """What a request has time for is over."""


def test_who_gives_up_goes_on_from_there() -> None:
    whole, few = pair("plain", (0, 0))
    replay, left = EpochReplay(few), 0
    done = []

    def check() -> None:
        nonlocal left
        if left == 0:
            raise Enough
        left -= 1
        done.append(1)

    for _ in range(2):  # the second time begins where the first one ended
        left = 10
        with pytest.raises(Enough):
            replay.weights(EPOCHS - 1, EPOCHS - 1, check)
    left = EPOCHS
    found = replay.weights(EPOCHS - 1, EPOCHS - 1, check)
    assert found[0].tobytes() == whole.parameters(EPOCHS - 1).flat.tobytes()
    assert len(done) == EPOCHS - 1


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"diverged"}))  # which ends too soon
@pytest.mark.parametrize("at_once", [1, 3])
def test_many_epochs_at_once_are_reached_by_who_asks_again(kind: str, at_once: int) -> None:
    """Also if none of the requests has time for all of them; and no epoch is trained twice."""
    whole, few = pair(kind, (0, 0))
    replay, first, asked = EpochReplay(few), 3, 0
    found, trained = None, 0

    def check() -> None:
        nonlocal left, trained
        if left == 0:
            raise Enough
        left, trained = left - 1, trained + 1

    while found is None:
        left, asked = at_once, asked + 1
        with contextlib.suppress(Enough):
            found = replay.weights(first, EPOCHS, check)
        assert asked <= EPOCHS
    assert trained == EPOCHS
    for row, epoch in enumerate(range(first, EPOCHS + 1)):
        assert found[row].tobytes() == whole.parameters(epoch).flat.tobytes()
    left = EPOCHS  # and another span after it
    other = replay.weights(first - 1, first + 1, check)
    assert other[0].tobytes() == whole.parameters(first - 1).flat.tobytes()


def test_what_does_not_come_out_as_recorded_is_refused() -> None:
    _, run = pair("plain", (0, 0))
    table = run.table.copy()
    table[9, :] += 1
    forged = ds.Run(**{**{n: getattr(run, n) for n in run.__dataclass_fields__}, "table": table})
    assert len(EpochReplay(forged).weights(0, 8)) == 9
    with pytest.raises(DynascopeError, match="epoch 9 could not be computed again"):
        EpochReplay(forged).weights(5, 10)


@pytest.mark.parametrize("span", [(-1, 3), (4, 3), (0, EPOCHS + 1)])
def test_epochs_that_are_not_there(span: tuple[int, int]) -> None:
    with pytest.raises(DynascopeError, match=f"epochs from 0 to {EPOCHS}"):
        EpochReplay(pair("plain", (0, 0))[1]).weights(*span)

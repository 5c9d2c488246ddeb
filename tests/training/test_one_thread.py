"""A trainer at work in one thread refuses all others, in a sentence, and goes on undisturbed."""

import copy
import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from fingerprints import SHORT, fingerprint

import dynascope as ds
from dynascope.trainer import Trainer

SENTENCE = "trainer: it is at work in another thread; wait for that to end, or make a copy"


def _set_parameters(trainer: Trainer) -> None:
    trainer.parameters = ds.initial_parameters(SHORT, 9)


USES: dict[str, Callable[[Trainer], Any]] = {
    "epoch": lambda trainer: trainer.epoch,
    "step": lambda trainer: trainer.step,
    "diverged": lambda trainer: trainer.diverged,
    "advance": lambda trainer: trainer.advance(1),
    "advance_steps": lambda trainer: trainer.advance_steps(1),
    "parameters": lambda trainer: trainer.parameters,
    "parameters=": _set_parameters,
    "change": lambda trainer: trainer.change({"training.lr": 0.1}),
    "run": lambda trainer: trainer.run,
    "finish": lambda trainer: trainer.finish(),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": pickle.dumps,
}
ONLY_SET_ONCE = {"at"}  # makes a new one


def test_every_use_is_tried() -> None:
    public = {name for name in vars(Trainer) if not name.startswith("_")} - ONLY_SET_ONCE
    assert public == {name for name in USES if name in public}


@contextmanager
def at_work(trainer: Trainer) -> Iterator[None]:
    """Another thread is in the middle of `advance`, where its tape asks how far it can go."""
    inside, go_on = threading.Event(), threading.Event()
    until = trainer._tape.until

    def wait(epoch: int, target: int) -> int:
        inside.set()
        assert go_on.wait(60)
        return until(epoch, target)

    trainer._tape.until = wait  # type: ignore[method-assign]
    thread = threading.Thread(target=trainer.advance, args=(4,))
    thread.start()
    try:
        assert inside.wait(60)
        yield
    finally:
        go_on.set()
        thread.join()
        del vars(trainer._tape)["until"]


@pytest.mark.parametrize("use", USES)
def test_it_is_refused_while_another_thread_works(use: str) -> None:
    trainer = ds.Trainer(SHORT, seed=1)
    with at_work(trainer), pytest.raises(ds.DynascopeError, match=SENTENCE):
        USES[use](trainer)
    assert trainer.epoch == 4
    trainer.advance(8)
    assert fingerprint(trainer.run) == fingerprint(ds.train(SHORT, [1], progress=False)[0])
    USES[use](ds.Trainer(SHORT, seed=1))  # and is fine otherwise


def test_two_threads_that_both_train() -> None:
    """Whoever comes second is refused; nothing is done twice, and no bit is another."""
    config = SHORT.replace({"training.epochs": 40})
    trainer = ds.Trainer(config, seed=1)
    start = threading.Barrier(4)
    done, refused = [], []

    def work() -> None:
        start.wait(60)
        for _ in range(10):
            try:
                trainer.advance(1)
                done.append(1)
            except ds.DynascopeError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(sentence.startswith(SENTENCE) for sentence in refused)
    assert len(done) + len(refused) == 40
    assert trainer.epoch == len(done)
    alone = ds.Trainer(config, seed=1)
    alone.advance(len(done))
    assert fingerprint(trainer.run) == fingerprint(alone.run)


def test_an_error_gives_the_turn_back() -> None:
    trainer = ds.Trainer(SHORT, seed=1)
    with pytest.raises(ds.DynascopeError, match="epochs: expected"):
        trainer.advance(-1)
    thread = threading.Thread(target=trainer.advance, args=(3,))
    thread.start()
    thread.join()
    assert trainer.epoch == 3

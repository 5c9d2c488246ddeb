"""The same bits: threads, instruction sets, pauses, files, processes; and common random numbers."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fingerprints import SHORT, VARIED, fingerprint, fingerprints, in_new_process
from wrong_isas import WRONG_ISAS, wrong_isa_sentence

import dynascope as ds
from dynascope import _kernel
from dynascope.errors import DynascopeError
from dynascope.kernel_loading import KernelError
from dynascope.trainer import Trainer


def test_the_kernel_is_the_one_to_be_tested() -> None:
    """A build of its own (tests/support/variant.py) must not be shadowed by an installed one."""
    wanted = os.environ.get("DYNASCOPE_VARIANT")
    assert not wanted or Path(_kernel.__file__).is_relative_to(Path(wanted).resolve())


def test_known_bits() -> None:
    """Pinned: a change here is a change of every seed's run, on purpose or not."""
    run = ds.train(SHORT, [0], progress=False)[0]
    assert fingerprint(run)[:16] == PINNED


PINNED = "8c464517cccc1af4"


@pytest.mark.parametrize("isa", _kernel.usable_isas())
def test_instruction_sets(isa: str) -> None:
    found = in_new_process("[t._kernel.isa(), *t.fingerprints()]", DYNASCOPE_ISA=isa)
    assert found == [isa, *fingerprints()]


@pytest.mark.parametrize("isa", WRONG_ISAS)
def test_unknown_instruction_set_is_said_in_one_sentence(isa: str | bytes) -> None:
    """As an error of ours that is an ImportError, too, and with no other one behind it."""
    code = "import dynascope"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environb, b"DYNASCOPE_ISA": os.fsencode(isa)},
        capture_output=True,
        check=False,
    )
    told = done.stderr.decode().splitlines()
    assert told[-1] == f"dynascope.kernel_loading.KernelError: {wrong_isa_sentence(isa)}"
    assert [line for line in told if "Error" in line] == told[-1:]
    assert not any("exception" in line for line in told)
    assert issubclass(KernelError, DynascopeError)
    assert issubclass(KernelError, ImportError)


def test_no_instruction_set_means_the_best() -> None:
    assert in_new_process("t._kernel.isa()", DYNASCOPE_ISA="") == _kernel.usable_isas()[0]


def test_threads() -> None:
    config = SHORT.replace({"training.epochs": 40})
    runs = [ds.train(config, 9, threads=n, progress=False) for n in (1, 2, 7)]
    for other in runs[1:]:
        assert [fingerprint(run) for run in other] == [fingerprint(run) for run in runs[0]]


@pytest.mark.parametrize("changes", VARIED, ids=str)
def test_in_pieces(changes: dict[str, Any]) -> None:
    """advance(300) then advance(700) in small: epochs and steps in any portions."""
    config = SHORT.replace(changes)
    whole = ds.Trainer(config, seed=4)
    whole.advance(12)
    pieces = ds.Trainer(config, seed=4)
    pieces.advance(3)
    pieces.advance_steps(5)
    pieces.advance_steps(1)
    pieces.advance(0)
    pieces.advance(12 - pieces.epoch)
    assert fingerprint(pieces.run) == fingerprint(whole.run)
    assert fingerprint(whole.run) == fingerprint(ds.train(config, [4], progress=False)[0])


@pytest.mark.slow
def test_a_thousand_epochs_in_two_pieces() -> None:
    trainer = ds.Trainer(seed=11)
    trainer.advance(300)
    trainer.advance(700)
    assert fingerprint(trainer.run) == fingerprint(ds.train(seeds=[11], progress=False)[0])


def test_save_and_load_in_a_new_process(tmp_path: Path) -> None:
    config = SHORT.replace({"record.steps": (2, 4)})
    runs = ds.train(config, [3, 5], progress=False)
    runs.save(tmp_path / "runs")
    again = in_new_process(f"[t.fingerprint(run) for run in t.ds.load({str(tmp_path / 'runs')!r})]")
    assert again == [fingerprint(run) for run in runs]
    went_on = f"t.fingerprint(t.ds.load({str(tmp_path / 'runs')!r})[1].continued(20))"
    longer = ds.train(config.replace({"training.epochs": 20}), [5], progress=False)[0]
    states = ds.load(tmp_path / "runs")[1].continued(20)
    assert in_new_process(went_on) == fingerprint(states)
    np.testing.assert_array_equal(states.table, longer.table)
    np.testing.assert_array_equal(states.weights, longer.weights)
    assert states.id == longer.id


@pytest.mark.parametrize("changes", [*VARIED[:8], *VARIED[10:]], ids=str)
@pytest.mark.parametrize("state_every", [0, 1, 5])
def test_replay_of_an_epoch(changes: dict[str, Any], state_every: int) -> None:
    config = SHORT.replace({**changes, "record.state_every": state_every})
    run = ds.train(config, [2], progress=False)[0]
    for epoch in (0, 1, 4, 5, 11, 12):
        trainer = run.trainer(epoch)
        assert trainer.epoch == epoch
        assert trainer.parameters == run.parameters(epoch)
        trainer.advance(12 - epoch)
        assert fingerprint(trainer.run) == fingerprint(run)


def test_weights_that_were_not_kept_are_replayed() -> None:
    full = ds.train(SHORT, [2], progress=False)[0]
    thin = ds.train(SHORT.replace({"record.weights_every": 0}), [2], progress=False)[0]
    assert thin.weight_epochs.tolist() == [0, 12]
    for epoch in range(13):
        assert thin.parameters(epoch) == full.parameters(epoch)
    assert thin.id == full.id


def test_replay_of_a_branch() -> None:
    """Weights changed at an epoch's end, and in the middle of one."""
    trainer = ds.Trainer(SHORT, seed=1)
    trainer.advance(3)
    edited = trainer.parameters
    edited.query[:] *= -1
    trainer.parameters = edited
    trainer.advance(2)
    trainer.advance_steps(3)
    trainer.parameters = trainer.parameters * 1.01
    trainer.advance(4)
    run = trainer.run
    assert run.origin is not None
    assert run.parameters(3) == edited
    plain = ds.train(SHORT, [1], progress=False)[0]
    assert run.parameters(2) == plain.parameters(2)
    assert run.parameters(4) != plain.parameters(4)
    for epoch in range(run.epochs + 1):
        assert Trainer.at(run, epoch).parameters == run.parameters(epoch), epoch
    for epoch in range(6, run.epochs + 1):
        replayed = run.trainer(epoch)
        replayed.advance(run.epochs - epoch)
        assert replayed.parameters == run.parameters()
        assert replayed.run.id == run.id
    with pytest.raises(DynascopeError, match="at least 6, where this branch of run"):
        run.trainer(5)  # the last edit came in the middle of the sixth epoch


def test_branches_have_ids_of_their_own() -> None:
    run = ds.train(SHORT, [1], progress=False)[0]
    ids = set()
    for epoch, steps in ((2, 0), (2, 3), (2, 40), (3, 0)):
        trainer = run.trainer(epoch)
        trainer.advance_steps(steps)
        trainer.parameters = run.parameters(1)
        if steps:
            with pytest.raises(
                DynascopeError, match="run: the weights were changed in the middle of an epoch"
            ):
                _ = trainer.run
        trainer.advance(2)
        ids.add(trainer.run.id)
    assert len(ids | {run.id}) == 5


def test_an_edit_before_training_is_kept() -> None:
    for every in (0, 1, 5):
        config = SHORT.replace({"record.weights_every": every, "record.state_every": every})
        trainer = ds.Trainer(config, seed=1)
        edited = trainer.parameters
        edited.query = np.zeros(2)
        trainer.parameters = edited
        trainer.advance(7)
        assert trainer.run.parameters(0) == edited
        assert trainer.run.trainer(7).parameters == trainer.parameters


def test_a_branch_with_the_same_weights_changes_nothing() -> None:
    trainer = ds.Trainer(SHORT, seed=1)
    trainer.advance(5)
    trainer.parameters = trainer.parameters
    trainer.advance(7)
    assert np.array_equal(
        trainer.run.table, ds.train(SHORT, [1], progress=False)[0].table, equal_nan=True
    )


class TestCommonRandomNumbers:
    """With the same seed, another batch size, rate or width keeps what they share."""

    def test_data_and_shuffles(self) -> None:
        for changes in ({"training.batch": 8}, {"training.lr": 0.1}, {"model.hidden": 64}):
            other = SHORT.replace(changes)
            for split in ("train", "test"):
                for a, b in zip(
                    ds.dataset(SHORT.task, 3, split), ds.dataset(other.task, 3, split), strict=True
                ):
                    np.testing.assert_array_equal(a, b)
        # the steps themselves: the first batch of 64 is the first two of 32
        grads = {}
        for batch in (32, 64):
            changes = {
                "training.optimizer": "sgd",
                "training.lr": 1e-12,
                "training.batch": batch,
                "precision": "float64",
            }
            config = SHORT.replace({**changes, "record.steps": (0, 1)})
            trainer = ds.Trainer(config, 3)
            trainer.advance(1)
            assert trainer.run.steps is not None
            grads[batch] = trainer.run.steps.curves["loss"]
        np.testing.assert_allclose(grads[64], grads[32].reshape(-1, 2).mean(1), rtol=1e-9)

    def test_larger_sets_extend_smaller_ones(self) -> None:
        small, large = ds.TaskConfig(train_size=100), ds.TaskConfig(train_size=5000)
        np.testing.assert_array_equal(ds.dataset(large, 1)[0][:100], ds.dataset(small, 1)[0])
        longer = ds.TaskConfig(length=20, train_size=100)
        np.testing.assert_array_equal(ds.dataset(longer, 1)[0][:, :12], ds.dataset(small, 1)[0])

    @pytest.mark.parametrize(
        ("key", "value"), [("model.hidden", 100), ("model.dim", 6), ("model.embeddings", 5)]
    )
    def test_wider_models_extend_narrower_ones(self, key: str, value: int) -> None:
        a, b = (ds.initial_parameters(c, 5) for c in (SHORT, SHORT.replace({key: value})))
        for name in a:
            corner = tuple(slice(n) for n in a.shapes[name])
            fans = [
                b.shapes["receptors"][1] / a.shapes["receptors"][1],
                b.shapes["receptors"][0] / a.shapes["receptors"][0],
            ]
            ratio = 1.0 if name.endswith("embedding") else fans[name.startswith("assembler")]
            np.testing.assert_allclose(b[name][corner] * ratio**0.5, a[name], rtol=1e-6)

    def test_seeds_differ(self) -> None:
        flats = np.stack(
            [ds.initial_parameters(SHORT, s).flat for s in [*range(50), 2**32, 2**53 - 1]]
        )
        assert len(np.unique(flats, axis=0)) == len(flats)


class TestDistributions:
    def test_initial_weights_follow_pytorch(self) -> None:
        config = ds.Config(model=ds.ModelConfig(dim=64, hidden=256), task=ds.TaskConfig(length=100))
        p = ds.initial_parameters(config, 0)
        for name in ("token_embedding", "position_embedding"):
            assert abs(p[name].mean()) < 4 / p[name].size ** 0.5
            assert abs(p[name].std() - 1) < 4 / p[name].size ** 0.5
        for name, fan in (
            ("query", 64),
            ("value", 64),
            ("receptors", 64),
            ("receptor_bias", 64),
            ("assemblers", 256),
            ("assembler_bias", 256),
        ):
            limit = fan**-0.5
            assert np.abs(p[name]).max() <= limit
            assert np.abs(p[name]).max() > 0.9 * limit
            assert abs(p[name].mean()) < 4 * limit / (3 * p[name].size) ** 0.5

    def test_tokens_are_uniform(self) -> None:
        tokens, _ = ds.dataset(ds.TaskConfig(vocab=7, train_size=100_000), 0)
        counts = np.bincount(tokens.ravel(), minlength=7)
        expected = tokens.size / 7
        assert ((counts - expected) ** 2 / expected).sum() < 30  # chi-square, 6 degrees of freedom
        pairs = np.bincount(tokens[:, 0] * 7 + tokens[:, 1], minlength=49)
        assert ((pairs - 1e5 / 49) ** 2 / (1e5 / 49)).sum() < 100

    def test_shuffles_are_permutations_without_a_trend(self) -> None:
        orders = np.stack([_kernel.shuffled(100, 0, epoch) for epoch in range(4000)])
        assert (np.sort(orders, axis=1) == np.arange(100)).all()
        assert np.abs(orders.mean(0) - 49.5).max() < 5 * 28.9 / 4000**0.5
        fixed = (orders == np.arange(100)).sum()  # one per shuffle on average, with variance one
        assert abs(fixed - 4000) < 5 * 4000**0.5

    def test_philox_known_answer(self) -> None:
        """Random123's test vectors for philox4x32-10: key 0, counter 0 gives 6627e8d5 ..."""
        # draw() takes token = word * p >> 32; with p = 2^16 the upper half of each word shows
        tokens = _kernel.draw(1, 4, 65536, 0, 0)[0]
        assert [f"{t:04x}" for t in tokens] == ["6627", "e169", "bc57", "9b00"]

"""What is recorded is what it says: curves against direct evaluation, options, own data."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest
import reference
import torch

import dynascope as ds
from dynascope import _kernel

SHORT = ds.Config().replace({"training.epochs": 6, "precision": "float64"})


def evaluate(
    run: ds.Run, epoch: int, examples: tuple[np.ndarray, np.ndarray]
) -> tuple[float, float]:
    tokens, targets = (torch.tensor(np.array(a)).long() for a in examples)
    logits = reference.forward(reference.tensors(run.parameters(epoch)), tokens, run.config.model)[
        "logits"
    ]
    loss = torch.nn.functional.cross_entropy(logits, targets).item()
    return loss, (logits.argmax(1) == targets).double().mean().item()


@pytest.mark.parametrize(
    "changes", [{}, {"task.vocab": 3, "model.embeddings": 5}, {"model.dim": 5}], ids=str
)
def test_curves(changes: dict[str, object]) -> None:
    run = ds.train(SHORT.replace({**changes, "record.unseen": True}), [3], progress=False)[0]
    task = run.config.task
    sets = {split: ds.dataset(task, 3, split) for split in ("train", "test", "unseen")}
    for epoch in range(run.epochs + 1):
        for split, examples in sets.items():
            loss, accuracy = evaluate(run, epoch, examples)
            assert run.curves[f"{split}_loss"][epoch] == pytest.approx(loss, rel=1e-9)
            assert run.curves[f"{split}_accuracy"][epoch] == pytest.approx(accuracy, abs=1e-12)


def test_unseen_is_what_the_train_set_lacks() -> None:
    task = ds.TaskConfig()
    train, unseen = (
        {row.tobytes() for row in ds.dataset(task, 0, s)[0]} for s in ("train", "unseen")
    )
    assert not train & unseen
    assert len(train | unseen) == 2**12
    large = ds.TaskConfig(vocab=3, length=12)
    test = {row.tobytes() for row in ds.dataset(large, 0, "test")[0]}
    assert {row.tobytes() for row in ds.dataset(large, 0, "unseen")[0]} <= test


def test_exhaustive_split() -> None:
    tokens, targets = ds.dataset(ds.TaskConfig(length=5, vocab=3, relevant=[0, 4]), split="all")
    assert len(np.unique(tokens, axis=0)) == 3**5 == len(tokens)
    np.testing.assert_array_equal(targets, (tokens[:, 0] + tokens[:, 4]) % 3)


def test_shortest_vectors_and_update_ratio() -> None:
    config = SHORT.replace({"training.batch": 2048, "record.steps": (0, 6)})
    run = ds.train(config, [1], progress=False)[0]
    tokens = np.concatenate([ds.dataset(config.task, 1, s)[0] for s in ("train", "test")])
    act = ds.forward(run.parameters(0), tokens, config.model)
    shortest = (
        np.linalg.norm(act.embedding, axis=-1).min(),
        np.linalg.norm(act.sequence, axis=-1).min(),
    )
    assert run.curves["min_norm_embedding"][0] == pytest.approx(shortest[0], rel=1e-12)
    assert run.curves["min_norm_sequence"][0] == pytest.approx(shortest[1], rel=1e-12)
    before, after = run.parameters(3), run.parameters(4)
    for name in config.shapes:
        ratio = np.linalg.norm(after[name] - before[name]) / np.linalg.norm(before[name])
        assert run.curves[f"update_ratio/{name}"][4] == pytest.approx(ratio, rel=1e-9)
    assert run.steps is not None  # full batch: a step is an epoch
    np.testing.assert_array_equal(run.steps.weights, run.weights[1:])
    np.testing.assert_allclose(run.steps.curves["loss"], run.curves["train_loss"][:-1], rtol=1e-12)


def test_full_gradient_norms() -> None:
    config = SHORT.replace({"record.full_gradients": True})
    run = ds.train(config, [1], progress=False)[0]
    for epoch in (0, 6):
        _, grad = ds.loss_and_gradient(
            run.parameters(epoch), *ds.dataset(config.task, 1), config.model
        )
        for name in config.shapes:
            wanted = np.linalg.norm(grad[name])
            assert run.curves[f"full_grad_norm/{name}"][epoch] == pytest.approx(wanted, rel=1e-9)


def test_weight_norms() -> None:
    run = ds.train(SHORT, [1], progress=False)[0]
    for epoch in (0, 6):
        for name, weights in run.parameters(epoch).items():
            wanted = np.linalg.norm(weights)
            assert run.curves[f"weight_norm/{name}"][epoch] == pytest.approx(wanted, rel=1e-9)


def test_which_curves_there_are() -> None:
    plain = ds.train(SHORT.replace({"training.epochs": 1}), 1, progress=False)[0].curves
    assert not any(name.startswith(("unseen", "full_grad")) for name in plain)
    assert sum(name.startswith("grad_norm/") for name in plain) == 8
    changes = {"record.gradients": False, "model.bias": False, "training.epochs": 1}
    fewer = ds.train(SHORT.replace(changes), 1, progress=False)[0].curves
    assert not any(name.startswith("grad_norm") for name in fewer)
    assert not any(name.endswith("bias") for name in fewer)
    assert not any(np.isnan(curve[1:]).any() for curve in (*plain.values(), *fewer.values()))


@pytest.mark.parametrize("every", [0, 1, 2, 4, 100])
def test_kept_epochs(every: int) -> None:
    changes = {"record.weights_every": every, "record.state_every": every}
    run = ds.train(SHORT.replace(changes), 1, progress=False)[0]
    kept = sorted({0, 6, *(range(0, 7, every) if every else [])})
    assert run.weight_epochs.tolist() == kept
    assert run.state_epochs.tolist() == kept
    assert len(run.weights) == len(run.states) == len(kept)


class TestOwnData:
    def data(self) -> ds.Data:
        rng = np.random.default_rng(0)
        tokens = rng.integers(0, 3, (70, 6))
        return ds.Data(train=(tokens, tokens.max(1)), test=(tokens[:20], tokens[:20].max(1)))

    def test_a_task_of_ones_own(self) -> None:
        config = SHORT.replace(
            {"task.length": 6, "task.relevant": 6, "task.vocab": 3, "training.epochs": 60}
        )
        run = ds.train(config, 1, data=self.data(), progress=False)[0]
        assert run.config.task.train_size == 70
        assert run.curves["train_loss"][-1] < 0.7 * run.curves["train_loss"][0]
        loss, accuracy = evaluate(run, 60, self.data().test)
        assert run.curves["test_loss"][-1] == pytest.approx(loss)
        assert run.curves["test_accuracy"][-1] == pytest.approx(accuracy)

    def test_contradictory_targets_are_kept_apart(self) -> None:
        """The evaluation merges equal sequences, but only with equal targets."""
        tokens = np.zeros((4, 12), int)
        data = ds.Data(train=(tokens, np.array([0, 0, 1, 0])))
        run = ds.train(SHORT.replace({"training.batch": 4}), 1, data=data, progress=False)[0]
        assert run.curves["train_accuracy"][-1] in (0.25, 0.75)
        assert "test_loss" not in run.curves

    def test_it_is_part_of_the_id(self) -> None:
        config = SHORT.replace(
            {"task.length": 6, "task.relevant": 6, "task.vocab": 3, "training.epochs": 1}
        )
        a = ds.train(config, 1, data=self.data(), progress=False)[0]
        tokens, targets = self.data().train
        other = ds.Data(train=(tokens, (targets + 1) % 3), test=self.data().test)
        assert a.id != ds.train(config, 1, data=other, progress=False)[0].id
        assert a.id == ds.train(config, 1, data=self.data(), progress=False)[0].id


class TestFineTuning:
    def test_fresh_rows_for_a_larger_vocabulary(self) -> None:
        first = ds.train(SHORT, [4], progress=False)
        config = SHORT.replace({"task.vocab": 3})
        run = ds.train(config, [4], start=first, progress=False)[0]
        start, old, new = run.parameters(0), first[0].parameters(), ds.initial_parameters(config, 4)
        np.testing.assert_array_equal(start.token_embedding[:2], old.token_embedding)
        np.testing.assert_array_equal(start.token_embedding[2], new.token_embedding[2])
        for name in old:
            if name != "token_embedding":
                np.testing.assert_array_equal(start[name], old[name])
        assert run.origin is not None
        assert (run.origin.kind, run.origin.parent, run.origin.epoch) == (
            "fine-tune",
            first[0].id,
            6,
        )
        assert run.id != ds.train(config, [4], progress=False)[0].id

    def test_rows_from_the_start(self) -> None:
        config = SHORT.replace({"model.embeddings": 3})
        first = ds.train(config, [4], progress=False)
        run = ds.train(config.replace({"task.vocab": 3}), [4], start=first, progress=False)[0]
        assert run.parameters(0) == first[0].parameters()

    def test_moments_are_fresh(self) -> None:
        start = ds.initial_parameters(SHORT, 4)
        again = ds.train(SHORT, [4], start=start, progress=False)[0]
        np.testing.assert_array_equal(again.table, ds.train(SHORT, [4], progress=False)[0].table)


def test_logits_have_the_bits_of_training() -> None:
    """forward() takes the same operations in the same order as the training loop."""
    config = ds.Config().replace({"training.epochs": 3, "task.test_size": 1})
    for seed in range(5):
        run = ds.train(config, [seed], progress=False)[0]
        tokens, targets = ds.dataset(config.task, seed, "test")
        logits = ds.forward(run.parameters(), tokens, config.model).logits[0]
        shifted = logits - logits.max()
        total = np.float32(0)
        for value in _kernel.math("exp", shifted):
            total += value
        loss = _kernel.math("log", np.array([total]))[0] + (logits.max() - logits[targets[0]])
        assert run.curves["test_loss"][-1] == loss


def test_state_dict_round_trip() -> None:
    p = ds.initial_parameters(SHORT, 0)
    state = p.to_state_dict()
    assert state["softmax.query.weight"].shape == (1, 2)
    assert ds.Parameters.from_state_dict(state) == p
    assert ds.Parameters.from_state_dict({k: torch.tensor(v) for k, v in state.items()}) == p


class TestNothingIsShared:
    def test_data_is_copied(self) -> None:
        tokens, targets = (np.array(a) for a in ds.dataset(SHORT.task, 0))
        data = ds.Data(train=(tokens, targets))
        digest = data.digest()
        targets[:] = 1 - targets
        assert data.digest() == digest

    def test_records_are_read_only(self) -> None:
        run = ds.train(SHORT.replace({"training.epochs": 1}), 1, progress=False)[0]
        for array in (run.table, run.weights, run.states, run.curves["train_loss"]):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0

    def test_assigning_to_a_parameter_changes_the_weights(self) -> None:
        p = ds.initial_parameters(SHORT, 0)
        p.query = np.array([1.0, 2.0])
        assert p["query"].tolist() == [1, 2]
        assert p.flat[28:30].tolist() == [1, 2]
        with pytest.raises(ds.DynascopeError, match="shape"):
            p.query = np.zeros(3)
        with pytest.raises(ds.DynascopeError, match="to assign to"):
            p.flat = np.zeros(196)


def test_recording_unseen_changes_nothing_else() -> None:
    plain, more = (
        ds.train(SHORT.replace({"record.unseen": unseen}), [2], progress=False)[0].curves
        for unseen in (False, True)
    )
    for name in plain:
        np.testing.assert_array_equal(plain[name], more[name])


def test_an_error_of_the_progress_function_carries_the_finished_runs() -> None:
    def report(status: object) -> None:
        if getattr(status, "finished_runs", 0) >= 2:
            raise RuntimeError("no more")

    config = ds.Config().replace({"training.epochs": 150})
    with pytest.raises(RuntimeError) as raised:
        ds.train(config, 200, progress=report)
    assert len(raised.value.runs) >= 2  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("room", "said"),
    [(0, r"cannot be created \(the disk is full\)"), (1, r"cannot be written .*the disk is full")],
    ids=["at once", "later"],
)
def test_a_full_disk_is_one_sentence(
    room: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = iter(range(room))

    def full(handle: int) -> None:
        if next(files, None) is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    runs = ds.train(SHORT.replace({"training.epochs": 1}), 1, progress=False)
    with pytest.raises(ds.DynascopeError, match=said):
        runs.save(tmp_path / "runs")
    assert not list(tmp_path.iterdir())

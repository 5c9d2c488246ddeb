"""Slices of the loss around runs of all kinds, and what is said of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from landscapes import SIZE, SMALL, TARGETS, TOKENS, P, around, axis, one_sentence, sliced, trained

import dynascope as ds


def test_splits_of_a_run() -> None:
    run = trained()
    for split in ("train", "test", "unseen", "all"):
        task = run.config.task
        if split == "unseen":
            with pytest.raises(ds.DynascopeError, match="split: expected one with sequences"):
                sliced(run, split=split)  # 64 draws of 16 sequences saw all
            continue
        examples = ds.dataset(task, 1, split)  # type: ignore[arg-type]
        found = sliced(run, split=split, directions="random")
        loss = ds.loss_and_gradient(run.parameters().astype("float64"), *examples, run.config)[0]
        assert found.centre_loss == pytest.approx(loss, rel=1e-12)
        assert (found.split, found.sequences) == (split, len(examples[1]))


def test_own_data() -> None:
    tokens = np.random.default_rng(0).integers(0, 2, (40, 4))
    targets = tokens.prod(axis=1)
    data = ds.Data(train=(tokens[:30], targets[:30]), test=(tokens[30:], targets[30:]))
    run = ds.train(SMALL.replace({"training.batch": 10}), data=data, progress=False)[0]
    for split, rows in (("train", slice(30)), ("test", slice(30, 40))):
        found = sliced(run, split=split)
        p = run.parameters().astype("float64")
        loss = ds.loss_and_gradient(p, tokens[rows], targets[rows], SMALL)[0]
        assert found.centre_loss == pytest.approx(loss, rel=1e-12)
        assert found.centre_loss == pytest.approx(run.curves[f"{split}_loss"][-1], abs=1e-6)
    with pytest.raises(ds.DynascopeError, match=r"split: expected train, test or unseen .*'all'"):
        sliced(run, split="all")
    bare = ds.Data(train=(tokens, targets))
    run = ds.train(SMALL, data=bare, progress=False)[0]
    with pytest.raises(ds.DynascopeError, match="split: expected one with sequences, but got tes"):
        sliced(run, split="test")


def test_frozen_weights_do_not_move() -> None:
    frozen = ("position_embedding", "value[0]", "query[1]", "receptor_bias")
    run = trained(training__frozen=frozen)
    still = {"position_embedding": ..., "value": 0, "query": 1, "receptor_bias": ...}
    for kind in ("negative", "sharp", "random", "epochs"):
        toward = (0, 20) if kind == "epochs" else None
        found = sliced(run, directions=kind, toward=toward)
        for direction in found.directions:
            for name, index in still.items():
                assert (direction[name][index] == 0).all()
            assert np.count_nonzero(direction.value[1]) == 2
    # The rest is the curvature of the free weights alone.
    free = np.ones(SIZE, bool)
    view = ds.Parameters.from_flat(free, P.shapes)
    for name, index in still.items():
        view[name][index] = False
    matrix = ds.hessian(run.parameters().astype("float64"), TOKENS, TARGETS, SMALL)
    values = np.linalg.eigvalsh(matrix[free][:, free])
    assert sliced(run).eigenvalues == pytest.approx(values[:2], rel=1e-6)
    assert around("negative", frozen=frozen, points=3).directions[0].query[1] == 0
    made, own = sliced(run, directions="random").directions[0], run.parameters()
    assert np.linalg.norm(made.value[1]) == pytest.approx(np.linalg.norm(own.value[1]))
    assert abs(made.query[0]) == pytest.approx(abs(own.query[0]))  # its free part alone


def test_a_run_that_diverged_is_seen_up_to_then() -> None:
    run = trained(training__optimizer="sgd", training__lr=1e6, model__norm="none")
    assert run.diverged == 1
    found = sliced(run, directions="random")
    assert found.epoch == 0
    assert found.path_epochs.tolist() == [0]
    assert found.path.tolist() == [[0, 0]]
    one_sentence(lambda: sliced(run, 1), "(the run diverged at epoch 1), but got 1")
    lost = ds.Trainer(run.config, start=P * 1e15)
    lost.advance(1)
    one_sentence(lambda: sliced(lost.run), "it diverged at epoch 0")


def test_imported_runs_have_no_train_set() -> None:
    run = replace(trained(), origin=ds.Origin("import", "0" * 20))
    with pytest.raises(ds.DynascopeError, match=r"it was imported without data; fine-tune"):
        sliced(run)
    assert sliced(run, split="all").sequences == 16


def test_stored_runs(tmp_path: Path) -> None:
    run = trained()
    ds.Runs([run]).save(tmp_path / "store")
    stored = ds.load(tmp_path / "store")[0]
    made, read = (sliced(each, 9, directions="random") for each in (run, stored))
    assert (made.loss == read.loss).all()
    assert (made.path == read.path).all()


def test_description() -> None:
    found = sliced(trained(), 20, directions="epochs", toward=(0, 30))
    text = found.describe()
    assert text.startswith(f"At epoch 20 the loss on 64 train sequences is {found.centre_loss:.4g}")
    assert "In the plane through epochs 20, 0 and 30, x from" in text
    assert f"it goes from {found.loss.min():.4g}, at (" in text
    assert f"{np.median(found.path_share):.1%} of their length in it." in text
    bare = around("negative", points=3).describe()
    assert bare.startswith("At the centre the loss on 64 sequences is")
    assert "of the Hessian's two lowest eigenvalues (-" in bare
    assert bare.endswith(".")
    assert "Half" not in bare
    assert "two eigenvalues of largest size (" in around("sharp", points=3).describe()
    assert "of two given directions" in around((axis(0), axis(1)), points=3).describe()
    assert "of two random directions" in around(points=3).describe()

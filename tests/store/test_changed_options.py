"""Training options that change on the way: the same bits as kernels that are told so directly, a
record that knows its epochs and steps, replay and storage bit for bit."""

import copy
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dynascope as ds
from dynascope.edits import SLOTS, Edit, edits_from_json, edits_to_json
from dynascope.run import Origin, Run
from dynascope.trainer import make_kernel

SMALL = ds.Config().replace(
    {
        "training.epochs": 8,
        "training.batch": 20,
        "task.train_size": 64,
        "task.test_size": 32,
        "record.weights_every": 3,
        "record.state_every": 4,
    }
)
PER_EPOCH = 4  # 64 sequences in batches of 20


def changed(config: ds.Config = SMALL, *edits: tuple[int, dict[str, Any]], to: int = 8) -> Run:
    """A run whose options change after some epochs."""
    trainer = ds.Trainer(config, seed=3)
    for epoch, options in edits:
        trainer.advance(epoch - trainer.epoch)
        trainer.change(options)
    trainer.advance(to - trainer.epoch)
    return trainer.run


def batches(*edits: tuple[int, int]) -> Run:
    return changed(SMALL, *((epoch, {"training.batch": batch}) for epoch, batch in edits))


class TestTraining:
    def test_as_two_runs_one_after_the_other(self) -> None:
        """SGD without momentum has no memory: weights are all that goes over."""
        config = SMALL.replace({"training.optimizer": "sgd", "training.lr": 0.1})
        run = changed(config, (3, {"training.lr": 0.2, "training.clip": 0.5}))
        alone = ds.Trainer(config.replace({"training.lr": 0.2, "training.clip": 0.5}), seed=3)
        alone.advance(3)  # only for the order of the sequences in later epochs
        first = ds.Trainer(config, seed=3)
        first.advance(3)
        alone.parameters = first.parameters
        alone.advance(5)
        assert np.array_equal(run.parameters(8).flat, alone.parameters.flat)
        assert not np.array_equal(run.parameters(8).flat, changed(config).parameters(8).flat)

    def test_moments_and_steps_go_on(self) -> None:
        """With warmup and Adam's correction, both of which count steps over all epochs."""
        config = SMALL.replace({"training.schedule": "warmup", "training.warmup": 30})
        there_and_back = changed(config, (3, {"training.lr": 0.5}), (3, {"training.lr": 3e-3}))
        assert np.array_equal(there_and_back.table, changed(config).table, equal_nan=True)
        assert there_and_back.id != changed(config).id

    def test_nothing_changes_nothing(self) -> None:
        assert changed(SMALL, (3, {"training.lr": 3e-3, "training.batch": 20})).origin is None

    def test_adam_goes_over_to_adamw(self) -> None:
        run = changed(SMALL, (4, {"training.optimizer": "adamw", "training.weight_decay": 0.1}))
        assert np.array_equal(run.parameters(4).flat, changed().parameters(4).flat)
        assert run.replayable

    @pytest.mark.parametrize(
        ("before", "after"),
        [("sgd", "adam"), ("sgd", "adamw"), ("sgd", "lion"), ("lion", "muon"), ("adam", "sgd")],
    )
    def test_slots_that_are_new_begin_at_zero(self, before: str, after: str) -> None:
        """As a run of the new rule alone that starts with the old one's weights, in the same order
        of sequences: its steps are counted from there. Where the slot is the same, it goes on."""
        config = SMALL.replace({"training.optimizer": before, "training.momentum": 0.5})
        trainer = ds.Trainer(config, seed=3)
        trainer.advance(3)
        left, state = trainer.parameters, trainer.run.states[-1]
        trainer.change({"training.optimizer": after})
        trainer.advance(2)
        new = config.replace({"training.optimizer": after})
        alone = make_kernel(new, 3, None, left)
        kept = (
            state
            if SLOTS[before][1] == SLOTS[after][1]
            else np.stack([state[0], *[0 * state[0]] * 2])
        )
        alone.set_state(np.ascontiguousarray(kept), 3, 0)
        alone.advance(2, 2**62)
        assert np.array_equal(trainer.parameters.flat, alone.parameters())
        again = trainer.run.trainer(3)
        again.advance(2)
        assert np.array_equal(again.parameters.flat, trainer.parameters.flat)
        assert np.array_equal(copy.deepcopy(again).run.table, trainer.run.table, equal_nan=True)

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"model.dim": 3}, "options: expected training options other than training.epochs"),
            ({"training.epochs": 3}, "options: expected training options other than"),
            ({"training.lrr": 3}, "training.lrr: unknown option"),
            ({"training.lr": -1}, "training.lr: expected"),
            ({"training.schedule": "cosine", "training.batch": 8}, "length is counted in steps"),
        ],
    )
    def test_what_cannot_be(self, options: dict[str, Any], said: str) -> None:
        trainer = ds.Trainer(SMALL, seed=3)
        trainer.advance(1)
        before = trainer.run
        with pytest.raises(ds.DynascopeError, match=said):
            trainer.change(options)
        assert trainer.run.id == before.id

    def test_in_the_middle_of_an_epoch(self) -> None:
        trainer = ds.Trainer(SMALL, seed=3)
        trainer.advance_steps(6)
        with pytest.raises(ds.DynascopeError, match="training is 2 steps into one"):
            trainer.change({"training.lr": 0.1})


class TestEpochs:
    def test_a_run_knows_its_steps(self) -> None:
        run = batches((2, 64), (5, 10))
        assert [run.steps_done(epoch) for epoch in range(9)] == [0, 4, 8, 9, 10, 11, 18, 25, 32]
        assert run.trainer().step == 32
        assert [edit.step for edit in run.edits] == [8, 11]
        assert run.trainer(5).step == 11

    @given(st.lists(st.tuples(st.integers(0, 8), st.integers(1, 64)), max_size=4))
    @settings(deadline=None, max_examples=15)
    def test_counted_by_the_kernel(self, edits: list[tuple[int, int]]) -> None:
        trainer = ds.Trainer(SMALL, seed=3)
        steps = [0]
        for epoch in range(9):
            for _, batch in (edit for edit in edits if edit[0] == epoch):
                trainer.change({"training.batch": batch})
            steps += [trainer.step] if epoch else []
            trainer.advance(1)
        run = trainer.run
        assert [run.steps_done(epoch) for epoch in range(9)] == steps

    def test_every_step_is_recorded(self) -> None:
        config = SMALL.replace({"record.steps": [2, 6], "record.weights_every": 1})
        run = changed(config, (4, {"training.batch": 8}), (7, {"training.batch": 64}))
        assert run.steps is not None
        assert len(run.steps.weights) == 2 * PER_EPOCH + 2 * 8
        ends = [run.steps_done(epoch) - run.steps_done(2) for epoch in range(3, 7)]
        assert np.array_equal(run.steps.weights[np.array(ends) - 1], run.weights[3:7])
        assert not np.isnan(run.steps.weights).any()
        again = run.trainer(7)
        again.advance(1)
        assert again.run.steps is not None
        assert np.array_equal(again.run.steps.weights, run.steps.weights)


def same(one: Run, other: Run) -> None:
    assert one.id == other.id
    assert one.origin == other.origin
    assert np.array_equal(one.table, other.table, equal_nan=True)
    assert np.array_equal(one.weights, other.weights)
    assert np.array_equal(one.states, other.states)
    assert one.state_epochs.tolist() == other.state_epochs.tolist()


class TestReplay:
    edits = ((2, {"training.batch": 8}), (5, {"training.lr": 0.05, "training.beta1": 0.5}))

    def test_every_epoch_again(self) -> None:
        run = changed(SMALL, *self.edits)
        full = changed(SMALL.replace({"record.weights_every": 1}), *self.edits)
        for epoch in range(9):
            assert np.array_equal(run.parameters(epoch).flat, full.weights[epoch]), epoch

    @pytest.mark.parametrize("at", [5, 6, 8])
    def test_going_on_is_as_in_one_go(self, at: int) -> None:
        trainer = changed(SMALL, *self.edits).trainer(at)
        trainer.advance(12 - at)
        same(trainer.run, changed(SMALL, *self.edits, to=12))
        same(changed(SMALL, *self.edits).continued(12), changed(SMALL, *self.edits, to=12))

    def test_before_the_last_change_it_is_another_run(self) -> None:
        run = changed(SMALL, *self.edits)
        with pytest.raises(ds.DynascopeError, match="at least 5, where this branch"):
            run.trainer(4)

    def test_weights_change_too(self) -> None:
        def edited(to: int) -> Run:
            trainer = ds.Trainer(SMALL, seed=3)
            trainer.advance(2)
            trainer.change({"training.batch": 8})
            trainer.advance_steps(3)
            trainer.parameters = trainer.parameters * 1.5
            trainer.advance(to - trainer.epoch)
            return trainer.run

        run = edited(8)
        assert [edit.parameters is None for edit in run.edits] == [True, False]
        assert run.edits[1].step == run.steps_done(2) + 3
        same(run.continued(12), edited(12))
        assert run.trainer(3).step == 2 * PER_EPOCH + 8
        with pytest.raises(ds.DynascopeError, match="at least 3, where"):
            run.trainer(2)

    def test_analyses_of_steps_say_so(self) -> None:
        with pytest.raises(ds.DynascopeError, match="its options change at epoch 2"):
            ds.theory.curvature(changed(SMALL, *self.edits), progress=False)


class TestReplayOfMuonAndSam(TestReplay):
    """The same with a change of the rule, and of where gradients are taken."""

    edits = (
        (2, {"training.optimizer": "muon", "training.weight_decay": 0.1}),
        (5, {"training.optimizer": "adamw", "training.sam": 0.05}),
    )


class TestIds:
    def test_they_follow_from_the_edits(self) -> None:
        run = batches((2, 64))
        assert run.origin is not None
        origin = {
            "kind": "branch",
            "start": run.origin.start,
            "parent": changed(SMALL, to=2).id,
            "epoch": 2,
            "step": 8,
            "edits": [{"epoch": 2, "step": 8, "options": {"training.batch": 64}}],
        }
        what = {
            "config": json.loads(SMALL.canonical_json()),
            "data": None,
            "origin": origin,
            "seed": 3,
        }
        text = json.dumps(what, sort_keys=True, separators=(",", ":"))
        assert run.id == hashlib.sha256(text.encode()).hexdigest()[:20]

    def test_other_edits_are_other_runs(self) -> None:
        runs = [batches((2, 64)), batches((2, 32)), batches((3, 64)), batches((2, 64), (3, 8))]
        assert len({run.id for run in runs}) == 4

    def test_weights_alone_make_no_edits(self) -> None:
        """Their branches have the ids that format 1 gave them."""
        trainer = ds.Trainer(SMALL, seed=3)
        trainer.advance(1)
        trainer.parameters = trainer.parameters * 2
        assert trainer.run.origin is not None
        assert trainer.run.origin.to_dict().keys() == {"kind", "start", "parent", "epoch", "step"}


class TestStored:
    def test_the_same_bits(self, tmp_path: Path) -> None:
        config = SMALL.replace({"record.steps": [2, 6]})
        run = changed(config, *TestReplay.edits)
        ds.Runs([run]).save(tmp_path / "runs")
        (stored,) = ds.load(tmp_path / "runs", strict=True)
        same(stored, run)
        assert stored.replayable
        assert np.array_equal(stored.parameters(7).flat, run.parameters(7).flat)
        same(stored.continued(12), run.continued(12))
        text = ds.load(tmp_path / "runs").table(["edits"])["edits"][0].as_py()
        assert json.loads(text)[0] == {"epoch": 2, "step": 8, "options": {"training.batch": 8}}

    def test_slots_have_names(self, tmp_path: Path) -> None:
        sgd = ds.train(SMALL.replace({"training.optimizer": "sgd"}), 1, progress=False)[0]
        adam = changed(SMALL, (2, {"training.optimizer": "adamw"}))
        ds.Runs([sgd, adam]).save(tmp_path / "runs")
        (file,) = (tmp_path / "runs" / "runs").iterdir()
        about = json.loads(pq.read_metadata(file).metadata[b"dynascope"])
        names = ["weights", "first_moment", "second_moment"]
        assert about["slots"] == {"adam": names, "adamw": names, "sgd": ["weights", "momentum"]}
        assert sgd.slots == SLOTS["sgd"]
        assert not sgd.states[:, len(sgd.slots) :].any()

    @pytest.mark.parametrize(
        "text",
        ["[", "[3]", "{}", '[{"epoch":1}]', '[{"epoch":-1,"step":2}]', '[{"epoch":"1","step":2}]'],
    )
    def test_edits_that_are_none_are_damage(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
    ) -> None:
        monkeypatch.setattr("dynascope.store.schema.edits_to_json", lambda edits: text)
        ds.Runs([batches((2, 64))]).save(tmp_path / "runs")
        (run,) = ds.load(tmp_path / "runs", strict=True)
        with pytest.raises(ds.DynascopeError, match="damaged:"):
            assert run.origin

    @pytest.mark.parametrize(
        ("edit", "said"),
        [
            (
                Edit(2, 8, interventions=({"site": "query", "mask": [0], "value": 0.0},)),
                "interventions at epoch 2, step 8",
            ),
            (Edit(2, 8, options={"training.later": 3}), "a change of training.later at epoch 2"),
            (Edit(2, 8, options={"training.optimizer": "later"}), "a change of training.optimizer"),
            (Edit(2, 8, options={"training.batch": [8]}), "a change of training.batch at epoch 2"),
            (Edit(2, 8, unknown={"data": "0f"}), "data at epoch 2, step 8"),
        ],
    )
    def test_what_later_versions_do_is_read_and_kept(
        self, tmp_path: Path, edit: Edit, said: str
    ) -> None:
        assert edits_from_json(edits_to_json([edit])) == (edit,)
        trained = changed()
        run = replace(trained, origin=Origin("branch", "0f", trained.id, 2, 8, (edit,)))
        ds.Runs([run]).save(tmp_path / "runs")
        (stored,) = ds.load(tmp_path / "runs", strict=True)
        assert stored.origin == run.origin
        assert stored.id == run.id != trained.id
        assert np.array_equal(stored.parameters(3).flat, trained.parameters(3).flat)
        assert not stored.replayable
        for use in (lambda: stored.parameters(1), stored.trainer, lambda: stored.continued(9)):
            with pytest.raises(ds.DynascopeError, match=f"cannot repeat {said}"):
                use()

"""Replay: the steps of a run that were not kept, once more."""

import tracemalloc

import numpy as np
import pytest

from dynascope.analysis.replay import Replay


@pytest.mark.parametrize("first", [0, 49, 50, 123])
def test_replayed_epochs_arrive_at_the_kept_weights(run, first):
    (piece,) = Replay(run).steps(first, first + 3)
    assert (piece.done, piece.end) == (64 * first, 64 * (first + 3))
    assert piece.weights.shape == (3 * 64 + 1, run.weights.shape[1])
    assert (piece.weights[::64] == run.weights[first : first + 4]).all()
    norms = np.sqrt(
        sum(run.curves[f"grad_norm_max/{n}"][first + 1] ** 2 for n in run.config.shapes)
    )
    assert 0 < piece.gradient_norms[:64].max() <= norms * (1 + 1e-6)


def test_states_in_the_middle_of_an_epoch_are_a_trainers(run):
    replay, trainer = Replay(run), run.trainer(77)
    replay.steps(75, 78)
    trainer.advance_steps(17)
    assert (replay.state(77, 17)[0] == trainer.parameters.flat).all()
    assert (replay.state(50) == run.states[run.state_epochs == 50][0]).all()


@pytest.mark.parametrize("most", [0, 1, 63, 64, 65, 150, 192, 1000])
def test_the_last_steps_alone(run, most):
    (whole,) = Replay(run).steps(98, 101)  # a state is kept at 100
    pieces = Replay(run).steps(98, 101, most)
    rows = min(most, 192)
    assert [piece.done for piece in pieces] == [101 * 64 - rows] * (rows > 0)
    for piece in pieces:
        assert (piece.weights == whole.weights[-rows - 1 :]).all()
        assert (piece.curves == whole.curves[-rows:]).all()


def test_joined_pieces_are_no_copies(run):
    replay = Replay(run)
    tracemalloc.start()
    (piece,) = replay.steps(10, 130)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert piece.weights.nbytes > 5e6
    assert peak < 1.2 * (piece.weights.nbytes + piece.curves.nbytes)


def test_in_float64_the_same_batches_are_seen_over_the_ends_of_epochs(run):
    twin = np.concatenate(list(Replay(run).in_float64(100, 70)))
    (piece,) = Replay(run).steps(100, 102)
    assert (twin.dtype, twin.shape) == (np.float64, (71, piece.weights.shape[1]))
    assert (twin[0] == piece.weights[0]).all()
    for row in (5, 64, 70):
        assert twin[row] == pytest.approx(piece.weights[row], abs=1e-4)
        assert np.abs(twin[row] - twin[row - 5]).max() > 1e-3  # it has moved by more than that
    late = np.concatenate(list(Replay(run).in_float64(100, 10, skipped=60)))
    assert (late == twin[60:]).all()


def test_an_edit_parts_the_replay_and_an_edited_epoch_is_left_out(run):
    trainer = run.trainer(120)
    edited = trainer.parameters
    edited.query *= 2
    trainer.parameters = edited
    trainer.advance(2)
    trainer.advance_steps(5)
    edited = trainer.parameters
    edited.query *= 0.5
    trainer.parameters = edited
    trainer.advance(3)
    pieces = Replay(trainer.run).steps(118, 125)
    assert [(p.done / 64, p.end / 64) for p in pieces] == [(118, 120), (120, 122), (123, 125)]
    assert (pieces[0].weights[-1] != pieces[1].weights[0]).any()
    assert (pieces[2].weights[-1] == trainer.run.weights[125]).all()

"""Tasks, each against plain loops over all of its sequences."""

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dynascope as ds
from dynascope import _kernel
from dynascope.config import LATER
from dynascope.errors import DynascopeError
from dynascope.tasks import LEARNING_ACCURACY, KernelTask, task_of

NAMES = ("modular-addition", "most-frequent", "products")
Prefix = tuple[int, ...]


def pairs_of(prefix: Prefix) -> list[Prefix]:
    return [prefix[i : i + 2] for i in range(0, len(prefix), 2)]


def wanted_target(name: str, prefix: Prefix, vocab: int) -> int:
    if name == "most-frequent":
        counts = Counter(prefix)
        return min(token for token in counts if counts[token] == max(counts.values()))
    if name == "products":
        return sum(a * b for a, b in pairs_of(prefix)) % vocab
    return sum(prefix) % vocab


def neighbours(name: str, prefix: Prefix) -> set[Prefix]:
    """What one step of a symmetry makes of a prefix."""
    found = set()
    if name != "products":
        for i, j in itertools.combinations(range(len(prefix)), 2):
            moved = list(prefix)
            moved[i], moved[j] = moved[j], moved[i]
            found.add(tuple(moved))
        return found
    pairs = pairs_of(prefix)
    for i, (a, b) in enumerate(pairs):
        found.add(tuple(itertools.chain(*pairs[:i], (b, a), *pairs[i + 1 :])))
    for i, j in itertools.combinations(range(len(pairs)), 2):
        moved_pairs = list(pairs)
        moved_pairs[i], moved_pairs[j] = moved_pairs[j], moved_pairs[i]
        found.add(tuple(itertools.chain(*moved_pairs)))
    return found


def orbits(name: str, vocab: int, size: int) -> dict[Prefix, Prefix]:
    """For every prefix the smallest that symmetries make of it, by walking from one to the next."""
    smallest: dict[Prefix, Prefix] = {}
    for prefix in itertools.product(range(vocab), repeat=size):
        if prefix in smallest:
            continue
        orbit, border = {prefix}, [prefix]
        while border:
            new = neighbours(name, border.pop()) - orbit
            orbit |= new
            border += new
        smallest |= dict.fromkeys(orbit, min(orbit))
    return smallest


SIZES = [(2, 5), (2, 4), (2, 6), (3, 4), (4, 2), (5, 3), (2, 1), (7, 2), (3, 6)]
CASES = [
    (name, vocab, size)
    for name in NAMES
    for vocab, size in SIZES
    if name != "products" or size % 2 == 0
]
each_case = pytest.mark.parametrize(("name", "vocab", "size"), CASES)


def made(name: str, vocab: int, size: int, irrelevant: int = 2) -> KernelTask:
    """A task whose relevant positions have gaps between them."""
    length = size + irrelevant
    positions = [t + (t > 0) * min(1, irrelevant) for t in range(size)]
    task = task_of(ds.TaskConfig(name=name, vocab=vocab, length=length, relevant=positions))
    assert isinstance(task, KernelTask)
    return task


@each_case
def test_targets(name: str, vocab: int, size: int) -> None:
    task = made(name, vocab, size)
    tokens, targets = task.examples(0, "all")
    relevant = tokens[:, list(task.config.positions)]
    assert targets.tolist() == [wanted_target(name, tuple(row), vocab) for row in relevant.tolist()]
    assert (task.targets(tokens) == targets).all()
    for split in ("train", "test", "unseen"):
        own, theirs = ds.dataset(task.config, 3, split)
        assert (task.targets(own) == theirs).all()
        assert len(own) or split == "unseen"  # of few sequences all are trained on
    assert targets.max() < task.classes


@each_case
def test_groups_are_orbits(name: str, vocab: int, size: int) -> None:
    task, wanted = made(name, vocab, size), orbits(name, vocab, size)
    assert task.groups is not None
    found = task.groups.canonical(list(wanted))
    assert [tuple(row) for row in found.tolist()] == list(wanted.values())
    assert task.groups.count == len(set(wanted.values()))
    names = task.groups.names(list(wanted))
    assert len(set(names)) == len(set(wanted.values()))
    assert len(set(zip(names, wanted.values(), strict=True))) == len(set(names))
    for prefix, smallest in wanted.items():  # a symmetry leaves the target alone
        assert wanted_target(name, prefix, vocab) == wanted_target(name, smallest, vocab)


@each_case
def test_exchanges_are_symmetries_or_not(name: str, vocab: int, size: int) -> None:
    task, group = made(name, vocab, size), orbits(name, vocab, size)

    def alike(i: int, j: int) -> bool:
        for prefix in group:
            moved = list(prefix)
            moved[i], moved[j] = moved[j], moved[i]
            if group[tuple(moved)] != group[prefix]:
                return False
        return True

    wanted = [[alike(i, j) for j in range(size)] for i in range(size)]
    assert task.config.kernel.exchangeable().tolist() == wanted


@each_case
def test_chance(name: str, vocab: int, size: int) -> None:
    task = made(name, vocab, size)
    counts = np.bincount(task.examples(0, "all")[1], minlength=vocab)
    shares = counts / counts.sum()
    np.testing.assert_allclose(task.class_shares, shares, rtol=1e-13)
    assert task.chance == pytest.approx(shares.max(), rel=1e-13)
    entropy = -sum(share * math.log(share) for share in shares if share)
    assert task.chance_loss == pytest.approx(entropy, rel=1e-13)
    assert task.learning_accuracy >= LEARNING_ACCURACY
    assert task.chance is not None
    assert task.learning_accuracy > task.chance + 0.05


@pytest.mark.parametrize(("vocab", "size"), [(2, 501), (512, 64), (1000, 3), (3, 300)])
def test_the_most_frequent_of_many(vocab: int, size: int) -> None:
    """Where nobody can count: shares fall from token to token, and a large draw agrees."""
    task = task_of(ds.TaskConfig(name="most-frequent", vocab=vocab, length=size, relevant=size))
    shares = task.class_shares
    assert shares is not None
    assert abs(shares.sum() - 1) < 1e-12
    assert (np.diff(shares) <= 1e-15).all()
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(size, np.full(vocab, 1 / vocab), size=4000).argmax(axis=1)
    half = vocab // 2
    share = float((drawn < half).mean())
    assert share == pytest.approx(shares[:half].sum(), abs=4 * 0.5 / math.sqrt(4000))


@pytest.mark.parametrize("vocab", [2, 6, 64, 97])
def test_products_of_many(vocab: int) -> None:
    """By powers of the distribution's Fourier transform."""
    rows = np.arange(vocab)
    one = np.bincount(np.outer(rows, rows).ravel() % vocab, minlength=vocab) / vocab**2
    for pairs in (1, 2, 3, 7, 100):
        size = 2 * pairs
        task = task_of(ds.TaskConfig(name="products", vocab=vocab, length=size, relevant=size))
        wanted = np.fft.ifft(np.fft.fft(one) ** pairs).real
        np.testing.assert_allclose(task.class_shares, wanted, atol=1e-13)


def test_a_chance_that_would_take_too_long_is_not_known() -> None:
    task = task_of(ds.TaskConfig(name="most-frequent", vocab=1000, length=900, relevant=900))
    assert (task.chance, task.chance_loss, task.class_shares) == (None, None, None)
    assert task.learning_accuracy == LEARNING_ACCURACY
    assert task.groups is not None
    assert task.groups.count is None


@each_case
def test_a_design_of_all_sequences(name: str, vocab: int, size: int) -> None:
    task, group = made(name, vocab, size), orbits(name, vocab, size)
    design = task.design()
    assert not design.sampled
    prefixes = [tuple(row) for row in design.prefixes.tolist()]
    assert sorted(prefixes) == sorted(group)
    assert sorted(map(tuple, design.suffixes.tolist())) == sorted(
        itertools.product(range(vocab), repeat=task.config.length - size)
    )
    assert design.sequences == task.config.sequences
    ends = design.groups.tolist()
    found = [prefixes[a:b] for a, b in itertools.pairwise(ends)]
    assert [{group[each] for each in members} for members in found] == [
        {smallest} for smallest in sorted(set(group.values()))
    ]
    assert all(members == sorted(members) for members in found)
    assert (ends[0], ends[-1], design.group_count) == (0, len(group), len(found))


def test_a_design_that_is_a_sample() -> None:
    for name in NAMES:
        task = task_of(ds.TaskConfig(name=name, vocab=3, length=30, relevant=8))
        design = task.design()
        assert design.sampled
        assert (design.prefixes.shape, design.suffixes.shape) == ((512, 8), (128, 22))
        assert design.groups.tolist() == list(range(0, 513, 2))
        assert task.groups is not None
        form = task.groups.canonical(design.prefixes)
        assert (form[::2] == form[1::2]).all()
        assert design.group_count == len(np.unique(form, axis=0))
        assert design.group_count > 30
        assert (design.prefixes[::2] != design.prefixes[1::2]).any(axis=1).mean() > 0.9
        assert abs(design.prefixes.mean() - 1) < 0.05


def test_members_of_a_sampled_group_are_uniform() -> None:
    """Two pairs of different tokens have eight orders; each comes as often."""
    task = task_of(ds.TaskConfig(name="products", vocab=40, length=8, relevant=4))
    prefixes = task.design().prefixes
    ranks = np.argsort(np.argsort(prefixes, axis=1, kind="stable"), axis=1, kind="stable")
    different = np.array([len(set(row)) == 4 for row in prefixes.tolist()])
    assert task.design().sampled
    counts = Counter(map(tuple, ranks[different].tolist()))
    assert len(counts) == 24  # orders of four tokens, all of them
    assert max(counts.values()) < 3 * min(counts.values()) + 20


# ---- options ------------------------------------------------------------------------------------
def test_the_plain_task_is_not_part_of_an_id() -> None:
    plain = ds.Config()
    assert LATER["task.name"] == plain.task.name
    assert '"name"' not in plain.canonical_json()
    other = plain.replace({"task.name": "most-frequent"})
    assert '"name":"most-frequent"' in other.canonical_json()
    assert other.digest() != plain.digest()


def test_what_is_wrong_with_a_task_is_said() -> None:
    with pytest.raises(DynascopeError, match="relevant: expected an even number of positions"):
        ds.TaskConfig(name="products")
    with pytest.raises(DynascopeError, match="did you mean 'products'"):
        ds.TaskConfig(name="product")
    good: dict[str, Any] = {"name": "products", "length": 4, "vocab": 2, "positions": [0, 1]}
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"name": "x"}, "one of the kernel.s tasks"),
        ({"length": 1025}, "length"),
        ({"vocab": 1}, "vocab"),
        ({"vocab": 4097}, "vocab"),
        ({"positions": []}, "relevant"),
        ({"positions": [0, 1, 2]}, "even"),
        ({"positions": [1, 0]}, "rising"),
        ({"positions": [0, 4]}, "positions"),
        ({"positions": [-1, 4]}, "positions"),
    ]
    for change, word in wrong:
        with pytest.raises(ValueError, match=word):
            _kernel.TaskSpec(**{**good, **change})
    task = _kernel.TaskSpec(**good)
    for bad in ([[0, 1]], [[0, 1, 0, 2]], [[0, 1, 0, -1]]):
        with pytest.raises(ValueError, match="token"):
            task.targets(np.array(bad, np.int32))
    with pytest.raises(ValueError, match="token"):
        task.canonical(np.array([[0, 1, 0, 1]], np.int32))


def test_data_of_ones_own() -> None:
    tokens = np.array([[0, 1], [1, 1], [1, 0], [1, 1]])
    config = ds.Config().replace({"task.length": 2, "task.relevant": 1, "training.batch": 4})
    run = ds.train(
        config.replace({"training.epochs": 1, "task.train_size": 4}),
        data=ds.Data(train=(tokens, [0, 1, 0, 0])),
        progress=False,
    )[0]
    task = run.task
    assert (task.name, task.positions, task.groups, task.symmetries) == ("own data", None, None, ())
    assert (task.classes, task.chance, task.learning_accuracy) == (2, 0.75, 0.8)
    assert task.chance_loss == pytest.approx(0.25 * math.log(4) + 0.75 * math.log(4 / 3))
    for refused in (task.design, lambda: task.targets(tokens)):
        with pytest.raises(DynascopeError, match="data of its own"):
            refused()
    with pytest.raises(DynascopeError, match="train, test or unseen"):
        run.examples("all")


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(NAMES), st.integers(2, 12), st.integers(1, 6), st.randoms())
def test_canonical_forms_do_not_depend_on_the_member(
    name: str, vocab: int, half: int, random: Any
) -> None:
    task = task_of(ds.TaskConfig(name=name, vocab=vocab, length=2 * half, relevant=2 * half))
    prefix = tuple(random.randrange(vocab) for _ in range(2 * half))
    others = [prefix, *neighbours(name, prefix)]
    assert task.groups is not None
    forms = {tuple(row) for row in task.groups.canonical(others).tolist()}
    assert len(forms) == 1
    assert task.targets(others).tolist() == [wanted_target(name, prefix, vocab)] * len(others)

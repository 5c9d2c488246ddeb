"""The tests notice a mutated kernel: each of these small errors must be caught by one of them.

Every mutant is compiled (one instruction set, little optimisation) and the kernel's own tests run
on it; a mutant that survives them is a hole in the tests.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from variant import ROOT, build_variant

TESTS = [
    f"kernel/test_{name}.py" for name in ("math", "twin", "optimizers", "muon_and_sam", "hessian")
]
TESTS += [f"training/test_{name}.py" for name in ("recording", "divergence")]
TESTS += ["training/test_reproducible.py::TestDistributions"]
ENVIRONMENT = ["kernel/test_float_environment.py"]
NO_VALUE = ["kernel/test_no_value.py"]
COPIES = ["training/test_copies.py"]
SUMS = ["analysis/test_kept_sum.py"]


@dataclass(frozen=True)
class Mutant:
    what: str
    file: str
    old: str
    new: str
    tests: Sequence[str] = tuple(TESTS)  # one of these must notice


MUTANTS = [
    Mutant(
        "a sum's values not counted", "sum_search.hpp", "fit.values) / plain_values_)", "1))", SUMS
    ),
    Mutant("a fold's other half", "sum_terms.hpp", "    --g[d];", "    (void)d, --g[c];", SUMS),
    Mutant(
        "one shift at a time",
        "sum_search.hpp",
        "shift[0][l] < vocab()) return true;",
        "shift[0][l] < 1) return true;",
        SUMS,
    ),
    Mutant(
        "groups of one weight",
        "sum_groups.hpp",
        "fit.share += square / weight_[g];",
        "fit.share += square / weight_[0];",
        SUMS,
    ),
    Mutant(
        "all values told apart", "sum_groups.hpp", "nearest_[g] > SUM_GAP", "0 <= SUM_GAP", SUMS
    ),
    Mutant("sign of the norm's bend", "normalize.hpp", "bend = -one /", "bend = one /"),
    Mutant(
        "norm's second term dropped",
        "normalize.hpp",
        "along = along * n.bend;",
        "along = zero<T>();",
    ),
    Mutant("smooth norm's slope", "normalize.hpp", "broadcast(T(45))", "broadcast(T(44))"),
    Mutant(
        "score not divided",
        "table.hpp",
        "held_ ? zero<T>() : ds * broadcast(inverse_root_);",
        "held_ ? zero<T>() : ds;",
    ),
    Mutant(
        "dw dropped",
        "table.hpp",
        "V ds = load(d_weighted + dim * width() + i * LANES);",
        "V ds = zero<T>();",
    ),
    Mutant(
        "V not transposed on the way back",
        "table.hpp",
        "theta + layout[VALUE].padded, 1, dim, dim, d_value_",
        "theta + layout[VALUE].padded, dim, 1, dim, d_value_",
    ),
    Mutant(
        "sign of the query's path to z",
        "table.hpp",
        "d_z_[c * vectors + i] + broadcast(q[c]) * d_score_[i]",
        "d_z_[c * vectors + i] - broadcast(q[c]) * d_score_[i]",
    ),
    Mutant(
        "position embedding gets another position's gradient",
        "table.hpp",
        "d_positions[t * dim + c] +=",
        "d_positions[(length - 1 - t) * dim + c] +=",
    ),
    Mutant(
        "residual path dropped",
        "model.hpp",
        "tile.d_xi[i] = tile.d_psi[i] + tile.d_xi[i];",
        "tile.d_xi[i] = tile.d_xi[i] + zero<T>();",
    ),
    Mutant("sign of dS", "model.hpp", "= -along * inverse;", "= along * inverse;"),
    Mutant(
        "faint sequences' scores forget xi",
        "model.hpp",
        "along += d * (table.value_at(c, e) - xi);",
        "along += d * (table.value_at(c, e) + T(0) * xi);",
    ),
    Mutant(
        "tied embedding's decoder gradient dropped",
        "model.hpp",
        "tile.error, TILE, tile.psi, TILE,\n              shape.dim, tile.vectors",
        "tile.error, TILE, tile.psi, TILE,\n              0, tile.vectors",
    ),
    Mutant(
        "receptor and assembler swapped",
        "feed_forward.hpp",
        "d_x[c][m] = d_x[c][m] + broadcast(f.receptors[c * f.step + j]) * d_pre;",
        "d_x[c][m] = d_x[c][m] + broadcast(f.assemblers[c * f.step + j]) * d_pre;",
    ),
    Mutant(
        "activation's slope forgotten",
        "feed_forward.hpp",
        "d_pre[i] = d_pre[i] * tile.slope[i];",
        "d_pre[i] = d_pre[i] * tile.hidden[i];",
    ),
    Mutant(
        "gelu's slope without phi",
        "math.hpp",
        "n.tail - n.u * n.bell * density",
        "n.tail - n.u * n.bell * broadcast(T(0.398))",
    ),
    Mutant("gelu's bend", "math.hpp", "(broadcast(T(2)) - n.u * n.u)", "(broadcast(T(2)) - n.u)"),
    Mutant("half of a product's derivative", "dual.hpp", " + scaled(b.along, a.value)};", "};"),
    Mutant(
        "quotient's derivative", "dual.hpp", "- scaled(b.along, value)", "+ scaled(b.along, value)"
    ),
    Mutant("root's derivative", "dual.hpp", "broadcast(T(0.5)) / root", "broadcast(T(1)) / root"),
    Mutant(
        "slope as if it were constant",
        "dual.hpp",
        "scaled(x.along, y.bend)",
        "scaled(x.along, zero<T>())",
    ),
    Mutant(
        "directions of the last, short block",
        "curvature.hpp",
        "out[(row + k) * size + i]",
        "out[k * size + i]",
    ),
    Mutant(
        "Adam's second bias correction",
        "optimizer.hpp",
        "unbiased(1, training_.beta2, t)",
        "unbiased(1, training_.beta1, t)",
    ),
    Mutant(
        "momentum and gradient",
        "optimizer.hpp",
        "m = momentum * load(first + i) + g;",
        "m = momentum * load(first + i) - g;",
    ),
    Mutant("nesterov without its step ahead", "optimizer.hpp", "? g + momentum * m", "? g + m"),
    Mutant(
        "sign of lion's direction",
        "optimizer.hpp",
        "sign = select(along > nil",
        "sign = select(along < nil",
    ),
    Mutant(
        "lion's gradient subtracted",
        "optimizer.hpp",
        "along = beta1 * m + rest1 * g",
        "along = beta1 * m - rest1 * g",
    ),
    Mutant("muon without its step ahead", "optimizer.hpp", "momentum * m + rest * g);", "m);"),
    Mutant(
        "muon's learning rate by the shorter side",
        "optimizer.hpp",
        "s.rows > s.cols ? s.rows : s.cols)",
        "s.rows > s.cols ? s.cols : s.rows)",
    ),
    Mutant(
        "muon's second moments lost",
        "optimizer.hpp",
        "negligible_is_zero(beta2 * load(second + i) + rest2 * (g * g)));",
        "zero<T>() * (beta2 + rest2));",
    ),
    Mutant("one step of Newton-Schulz less", "newton_schulz.hpp", "STEPS = 5", "STEPS = 4"),
    Mutant(
        "Newton-Schulz of another polynomial",
        "newton_schulz.hpp",
        "broad(B) * gram_[i] + broad(C)",
        "broad(B) * gram_[i] - broad(C)",
    ),
    Mutant("SAM downhill", "optimizer.hpp", "+ reach * load(grad + i)", "- reach * load(grad + i)"),
    Mutant(
        "SAM stays uphill",
        "train.hpp",
        "theta_[i] = stood_[i];",
        "stood_[i] = theta_[i];",
    ),
    Mutant(
        "SAM moves what is frozen",
        "optimizer.hpp",
        "if (any_frozen_) clear_frozen(grad);\n    const V reach",
        "const V reach",
    ),
    Mutant("tanh's slope", "math.hpp", "broadcast(T(4)) * s * (one - s)", "broadcast(T(4)) * s"),
    Mutant("clipping by the wrong factor", "optimizer.hpp", "+ T(1e-6))", "+ T(1e-2))"),
    Mutant(
        "short batch averaged over the whole batch",
        "train.hpp",
        "forward<true>(data, first + i, left, count)",
        "forward<true>(data, first + i, left, training_.batch)",
    ),
    Mutant(
        "test and train accuracy swapped",
        "train.hpp",
        "row[TRAIN_ACCURACY + set] = scores.accuracy[set];",
        "row[TRAIN_ACCURACY + set] = scores.accuracy[set == UNSEEN_SET ? set : 1 - set];",
    ),
    Mutant("shuffle one short", "random.hpp", "words.below(i + 1, i)", "words.below(i, i)"),
    Mutant(
        "the caller's floating-point mode",
        "float_environment.hpp",
        ": callers_(read()) { write_plain(); }",
        ": callers_(read()) {}",
        ENVIRONMENT,
    ),
    Mutant(
        "the mode not put back",
        "float_environment.hpp",
        "{ write(callers_); }",
        "{ (void)callers_; }",
        ENVIRONMENT,
    ),
    Mutant(
        "subnormals flushed",
        "float_environment.hpp",
        "write(0x1f80);",
        "write(0x9fc0);",
        ENVIRONMENT,
    ),
    Mutant(
        "whichever NaN the hardware makes",
        "no_value.hpp",
        "return x == x ? x : no_value<T>();",
        "return x;",
        NO_VALUE,
    ),
    Mutant(
        "measures with whichever NaN",
        "measures.cpp",
        "if (*numbers) fix_nans(*numbers, size);",
        "(void)size;",
        NO_VALUE,
    ),
    Mutant(
        "a copy forgets the epoch so far", "train.hpp", "so_far_ = so_far;", "(void)so_far;", COPIES
    ),
    Mutant(
        "a copy forgets where the epoch began",
        "train.hpp",
        "    unpack(before_, rows + 3 * layout_.packed_size, layout_);\n",
        "",
        COPIES,
    ),
]


def test_there_are_enough() -> None:
    assert len({(mutant.file, mutant.old) for mutant in MUTANTS}) >= 10


def test_every_mutant_applies() -> None:
    for mutant in MUTANTS:
        text = (ROOT / "kernel" / mutant.file).read_text()
        assert text.count(mutant.old) == 1, mutant


@pytest.fixture(scope="session")  # once for each process of `pytest -n`, which share the mutants
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the build needs; mutants are applied to it one after the other."""
    root = tmp_path_factory.mktemp("mutants")
    shutil.copytree(ROOT / "kernel", root / "kernel")
    shutil.copy(ROOT / "CMakeLists.txt", root)
    build(root)
    everything = [*TESTS, *ENVIRONMENT, *NO_VALUE, *COPIES]
    assert not caught(root, everything), "the unchanged kernel must pass"
    return root


def build(root: Path) -> None:
    build_variant(root / "out", "-O1", "sse2", root)


def caught(root: Path, tests: Sequence[str]) -> bool:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(root / "out")}
    done = subprocess.run(
        command, cwd=ROOT / "tests", env=environment, capture_output=True, text=True
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr  # 1: a test failed
    return done.returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.what)
def test_it_is_caught(mutant: Mutant, tree: Path) -> None:
    file = tree / "kernel" / mutant.file
    good = file.read_text()
    file.write_text(good.replace(mutant.old, mutant.new))
    try:
        try:
            build(tree)
        except SystemExit as error:
            pytest.fail(f"the mutant itself is at fault, since it does not compile: {error}")
        assert caught(tree, mutant.tests)
    finally:
        file.write_text(good)

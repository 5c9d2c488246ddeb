"""Sweeps on a real Ray cluster of several nodes: the same bits, whoever is killed on the way.

Everything runs as processes of its own (tests/support/cluster.py): the nodes, and the sweeps as a
person would start them. So what Ray prints or warns about is seen here as a person would see it.
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster import Cluster, Node, alive, cluster, descendants, until
from sweeping import run, same, shards, toml, twice

import dynascope as ds
from dynascope.engine import Job
from dynascope.store.shard_write import ShardFiles
from dynascope.store.sidecar import Sidecar
from dynascope.sweeps.remote_shard import RemoteShard, SharedFolder, make_remotely

CHAIN: dict[str, Any] = {
    "seeds": 3,
    "base": {"training.epochs": 20},
    "grid": {"training.lr": [0.001, 0.01]},
    "chain": {"three": {"set": {"task.vocab": 3}}},
}
LONG: dict[str, Any] = {"seeds": 24, "base": {"training.epochs": 800, "record.weights_every": 100}}
EACH = 0.1  # seconds of a shard: one run of LONG each


@pytest.fixture(scope="module")
def module_ray() -> Iterator[Cluster]:
    with cluster() as made:
        yield made


@pytest.fixture
def ray(module_ray: Cluster) -> Iterator[Cluster]:
    """A cluster with two workers, also after a test that has killed one."""
    yield module_ray.complete()
    module_ray.end_commands()


@pytest.fixture(scope="module")
def long_alone(tmp_path_factory: pytest.TempPathFactory) -> ds.Runs:
    """What an uninterrupted sweep on this machine gives."""
    return ds.sweep(LONG, tmp_path_factory.mktemp("alone") / "runs", progress=False)


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, Path]:
    """A file with the long grid, and the folder for its runs."""
    (tmp_path / "grid.toml").write_text(toml(LONG))
    return tmp_path / "grid.toml", tmp_path / "runs"


def sweep(ray: Cluster, grid: Path, folder: Path, *more: object) -> "subprocess.Popen[str]":
    return ray.command("sweep", grid, "--out", folder, "--shard-seconds", EACH, *more)


def shards_of(process: "subprocess.Popen[str]", folder: Path, count: int) -> dict[str, Any]:
    """The shards that a sweep has made once they are so many; it goes on."""

    def enough() -> bool:
        assert process.poll() is None, process.communicate()
        return len(shards(folder)) >= count

    until(enough)
    return shards(folder)


def ended(process: "subprocess.Popen[str]", seconds: float = 60.0) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    out, error = process.communicate(timeout=seconds)
    return process.returncode, out, error


def one_sentence(error: str, *parts: str) -> bool:
    """All that we say on stderr, after the line that says where the sweep goes, is one error.

    Ray's C++ core may add a dated line of its own ("[2026-..."), which nobody can keep from it.
    """
    lines = [line for line in error.splitlines()[1:] if not line.startswith("[20")]
    return len(lines) == 1 and lines[0].startswith("dynascope: ") and all(p in error for p in parts)


def whole(folder: Path, expected: ds.Runs) -> bool:
    """Every run is there once, in order, as it should be; nothing else is left."""
    left = [file for file in (folder / ".partial").rglob("*") if file.is_file()]
    return same(ds.load(folder, strict=True), expected) and not twice(folder) and not left


# The same runs.


# By the shared folder, the test after this one looks at the same bits and more.
@pytest.mark.parametrize("results", ["object", pytest.param("shared", marks=pytest.mark.slow)])
def test_the_same_bits_as_on_one_machine(ray: Cluster, tmp_path: Path, results: str) -> None:
    grid, folder = tmp_path / "grid.toml", tmp_path / "runs"
    grid.write_text(toml(CHAIN))
    process = ray.command("sweep", grid, "--out", folder, "--results", results)
    code, out, error = ended(process)
    assert (code, error.count("\n")) == (0, 1), error
    assert {"object": "Ray's object store", "shared": "the shared folder"}[results] in error
    assert out.startswith("12 runs are in ")
    assert whole(folder, ds.sweep(CHAIN, tmp_path / "alone", progress=False))


@pytest.mark.slow
@pytest.mark.parametrize("results", [pytest.param("object", marks=pytest.mark.slow), "shared"])
def test_the_same_analyses_as_on_one_machine(ray: Cluster, tmp_path: Path, results: str) -> None:
    """They are made by the workers, and come along with the shards."""
    grid, folder = tmp_path / "grid.toml", tmp_path / "runs"
    analysed = CHAIN | {"analyse": ["circuit", "phases", "spikes"]}
    grid.write_text(toml(analysed))
    code, _, error = ended(ray.command("sweep", grid, "--out", folder, "--results", results))
    assert (code, error.count("\n")) == (0, 1), error
    alone = ds.sweep(analysed, tmp_path / "alone", progress=False)
    assert whole(folder, alone)
    runs = ds.load(folder, strict=True)
    assert runs.table().drop_columns("seconds").equals(alone.table().drop_columns("seconds"))
    assert runs.table(["verdict", "drops", "spikes"])["verdict"].null_count == 0
    sidecars = [Sidecar.open(file) for file in (folder / "analyses").iterdir()]
    assert len(sidecars) == len(shards(folder))
    (batch,) = {each.about["batch"] for each in sidecars}
    assert str(batch) in (folder / "sweep.json").read_text()  # made with the shards, not after


@pytest.mark.slow
def test_a_machine_of_its_own(tmp_path: Path, ray: Cluster) -> None:
    """`local` starts a cluster, whatever others there are, and leaves nothing of it."""
    grid, folder = tmp_path / "grid.toml", tmp_path / "runs"
    grid.write_text(toml(CHAIN))
    away = {"HOME": str(tmp_path), "RAY_AUTH_MODE": None, "RAY_AUTH_TOKEN": None}
    variables = ray.environment(RAY_ADDRESS=ray.address, **away)
    before = set(descendants(os.getpid()))
    done = run("sweep", grid, "--out", folder, "--ray", "local", env=variables)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1), done.stderr
    assert whole(folder, ds.sweep(CHAIN, tmp_path / "alone", progress=False))
    assert set(descendants(os.getpid())) <= before
    assert not (tmp_path / ".ray").exists()


# Nothing lost.


@pytest.mark.slow
@pytest.mark.parametrize("results", ["object", pytest.param("shared", marks=pytest.mark.slow)])
def test_a_node_killed_in_the_middle(
    ray: Cluster, place: tuple[Path, Path], long_alone: ds.Runs, results: str
) -> None:
    folder = place[1]
    process = sweep(ray, *place, "--results", results)
    shards_of(process, folder, 2)
    until(lambda: all(node.training for node in ray.workers))  # both nodes have shards
    before = shards(folder)
    ray.workers[-1].kill()
    code, out, error = ended(process)
    # Ray's core has a line of its own if a result was lost with the node; it cannot be told not to.
    ours = [line for line in error.splitlines() if " core_worker.cc:" not in line]
    assert (code, len(ours)) == (0, 1), error
    assert out.startswith("24 runs are in ")
    assert before.items() <= shards(folder).items(), "a finished shard was written again"
    assert 2 <= len(before) < 24
    assert whole(folder, long_alone)


@pytest.mark.slow
def test_the_sweep_killed_in_the_middle(
    ray: Cluster, place: tuple[Path, Path], long_alone: ds.Runs
) -> None:
    folder = place[1]
    process = sweep(ray, *place, "--results", "shared")
    shards_of(process, folder, 3)
    process.kill()
    process.communicate()
    before, kept = shards(folder), len(ds.load(folder))
    code, out, error = ended(sweep(ray, *place))  # while workers may still be at the old one's
    assert code == 0, error
    assert f"24 runs are in {folder}, {kept} of them from before" in out
    assert before.items() <= shards(folder).items()
    assert same(ds.load(folder, strict=True), long_alone)
    assert not twice(folder)


# Ray would handle SIGTERM in its own way; Ctrl-C is that of sweeps without it.
@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGTERM]
)
def test_a_sweep_stopped(ray: Cluster, place: tuple[Path, Path], number: int) -> None:
    folder = place[1]
    process = sweep(ray, *place)
    shards_of(process, folder, 2)
    process.send_signal(number)
    code, out, error = ended(process)
    assert (code, out) == (1, "")
    kept = len(ds.load(folder, strict=True))
    assert 2 <= kept < 24
    assert one_sentence(error, f"stopped; {kept} of 24 runs are in {folder}")
    until(lambda: not any(node.training for node in ray.workers))  # they are free again


@pytest.mark.slow
def test_a_head_alone_then_a_worker_then_no_head(
    place: tuple[Path, Path], long_alone: ds.Runs
) -> None:
    grid, folder = place
    impatient = (
        "import sys; from dynascope.sweeps import cluster; cluster._PATIENCE = 0.5; "
        "from dynascope.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    options = ["sweep", str(grid), "--out", str(folder), "--shard-seconds", str(EACH)]
    with cluster(workers=0) as alone:
        process = alone.start([sys.executable, "-c", impatient, *options])
        assert process.stderr
        lines = [process.stderr.readline() for _ in range(2)]
        assert "no node with a core; the sweep waits" in lines[1], lines
        alone.complete(1)
        shards_of(process, folder, 2)
        nodes = [each for node in alone.nodes for each in descendants(node.process.pid)]
        alone.nodes[0].kill()
        code, _, error = ended(process)
        assert (code, error.count("\n")) == (1, 1), error
        assert error.startswith("dynascope: ray: the cluster")
        assert error.endswith("finished runs are saved; run the same command to resume.\n")
    assert len(nodes) > 5
    until(lambda: not any(map(alive, nodes)))  # these tests leave nothing behind
    before = shards(folder)
    assert 2 <= len(ds.load(folder, strict=True)) < 24
    ds.sweep(LONG, folder, progress=False)  # a sweep can move, here to this machine
    assert before.items() <= shards(folder).items()
    assert whole(folder, long_alone)


# What can be wrong.


@pytest.mark.parametrize(
    ("address", "part"),
    [
        ("127.0.0.1:1", "expected a cluster at 127.0.0.1:1, but found none"),
        ("nowhere.invalid:6379", "expected a cluster at nowhere.invalid:6379"),
        ("here", "an address is HOST:PORT"),
    ],
    ids=["refused", "unknown", "nonsense"],
)
def test_no_cluster_there(place: tuple[Path, Path], address: str, part: str) -> None:
    grid, folder = place
    done = run("sweep", grid, "--out", folder, "--ray", address)
    assert done.returncode == 2
    assert one_sentence(done.stderr, "ray: ", part)


def test_ray_is_not_installed(place: tuple[Path, Path]) -> None:
    without = "import sys; sys.modules['ray'] = None; from dynascope.cli import main; main()"
    arguments = ["sweep", str(place[0]), "--out", str(place[1]), "--ray", "auto"]
    done = subprocess.run(
        [sys.executable, "-c", without, *arguments], capture_output=True, text=True, check=False
    )
    assert one_sentence(
        done.stderr, "sweep: ray is not installed; run: pip install 'dynascope[ray]'."
    )


def test_a_wrong_token(ray: Cluster, place: tuple[Path, Path]) -> None:
    grid, folder = place
    variables = ray.environment(RAY_AUTH_TOKEN="0" * 64)
    done = run("sweep", grid, "--out", folder, "--ray", ray.address, env=variables)
    assert done.returncode == 2
    assert "RAY_AUTH_MODE and token" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


# On the node that gets it, at the first import for each sweep: what a file says is wrong.
FAULTS = """
import os, sys
class Fault:
    def find_spec(self, name, path=None, target=None):
        try:
            fault = open(os.environ["FAULT"]).read()
        except OSError:
            return
        if name == "dynascope" and fault == "missing":
            raise ModuleNotFoundError("No module named 'dynascope'", name="dynascope")
        if name == "dynascope.sweeps.remote_shard" and fault == "version":
            sys.modules["dynascope.version"].__version__ = "0.0.9"
        if name == "dynascope.sweeps.remote_shard" and fault in ("memory", "bug"):
            import dynascope.engine
            def fail(job):
                raise MemoryError if fault == "memory" else ZeroDivisionError("division by zero")
            dynascope.engine.train_job = fail
sys.meta_path.insert(0, Fault())
"""


@pytest.fixture(scope="module")
def odd(module_ray: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The file that says what is wrong with one of the cluster's nodes."""
    folder = tmp_path_factory.mktemp("odd")
    (folder / "sitecustomize.py").write_text(FAULTS)
    path = f"{folder}{os.pathsep}{Path(ds.__file__).parents[1]}"
    node: Node = module_ray.start_worker(PYTHONPATH=path, FAULT=str(folder / "fault"))
    until(lambda: node.started)
    yield folder / "fault"
    node.stop()


@pytest.mark.parametrize(
    ("fault", "code", "part"),
    [
        ("version", 2, f"expected dynascope {ds.__version__} on every node, but "),
        ("missing", 2, f"expected dynascope {ds.__version__} on every node, but one has none"),
        ("memory", 1, "memory ran out; "),
        (
            "bug",
            1,
            "a worker failed (ZeroDivisionError: division by zero); finished runs",
        ),
    ],
    ids=["version", "missing", "memory", "bug"],
)
@pytest.mark.slow
def test_a_node_that_cannot(
    module_ray: Cluster, odd: Path, place: tuple[Path, Path], fault: str, code: int, part: str
) -> None:
    odd.write_text(fault)
    found, _, error = ended(sweep(module_ray, *place))
    assert found == code
    assert one_sentence(error, part)


def parcel(shared: SharedFolder | None = None) -> bytes:
    job = Job(ds.Config().replace({"training.epochs": 2}), 0)
    return pickle.dumps(RemoteShard((job,), (0,), 1, shared))


def test_another_version_does_not_even_look_into_a_parcel() -> None:
    with pytest.raises(
        ds.DynascopeError, match=r"expected dynascope 9\.9 on every node, but .* has"
    ):
        make_remotely("9.9", b"what nobody can read")


def test_a_folder_that_is_not_shared(tmp_path: Path) -> None:
    ds.sweep({"base": {"training.epochs": 1}}, tmp_path, progress=False)
    right = SharedFolder.of(tmp_path)
    for folder, ledger in ((right.folder, "another"), (str(tmp_path / "unseen"), right.ledger)):
        with pytest.raises(ds.DynascopeError, match="expected a folder that all nodes share"):
            make_remotely(ds.__version__, parcel(SharedFolder(folder, ledger, "stage")))
    assert not (tmp_path / "unseen").exists()


def test_a_staged_shard_counts_once_it_is_adopted(tmp_path: Path) -> None:
    ds.sweep({"seeds": [5], "base": {"training.epochs": 1}}, tmp_path, progress=False)
    shared = SharedFolder.of(tmp_path)
    staged = make_remotely(ds.__version__, parcel(shared))
    again = make_remotely(ds.__version__, parcel(shared))  # as when the first worker seemed lost
    assert not isinstance(staged, ShardFiles)
    assert not isinstance(again, ShardFiles)
    assert [each.seed for each in ds.load(tmp_path)] == [5]
    staged.adopt(shared)
    staged.adopt(shared)
    assert sorted(each.seed for each in ds.load(tmp_path, strict=True)) == [0, 5]
    assert len(shards(tmp_path)) == 2


def test_the_batch_script(tmp_path: Path) -> None:
    """Tried by hand on a real SLURM; here only that it is whole, and says how it is used."""
    script = tmp_path / "job.sh"
    script.write_text(run("sweep", "--slurm").stdout)
    subprocess.run(["bash", "-n", script], check=True)
    alone = {k: v for k, v in os.environ.items() if not k.startswith("SLURM_")}
    done = subprocess.run(["bash", script, "grid.toml"], capture_output=True, text=True, env=alone)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: sbatch --nodes N")

"""Links, pipes, sockets and devices in a store: no command follows, awaits or removes them.

A case puts one of them in one place of a store with everything in it, beside a person's own folder,
and runs a command. Whatever the command then says, it says it in sentences, it ends, and the
person's folder is as it was.
"""

import contextlib
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from strangers import LONG_AGO, STRANGERS, Home
from sweeping import toml

import dynascope as ds
from dynascope.cli import main
from dynascope.store.handles import open_file

pytestmark = [
    pytest.mark.filterwarnings("default"),  # printed, as on the command line
    pytest.mark.usefixtures("both_ways"),
]

GRID = {
    "seeds": 2,
    "analyse": ["circuit"],
    "base": {
        "training.epochs": 3,
        "task.length": 5,
        "task.relevant": 2,
        "task.train_size": 32,
        "task.test_size": 16,
        "model.hidden": 4,
    },
    "grid": {"training.lr": [0.001, 0.01]},
}
FOLDERS = ["runs", "trajectories", "analyses", "marks", "damaged", ".partial", ".partial/sweep"]
FILES = ["sweep.json", ".lock", "runs/*", "trajectories/*", "analyses/*", "marks/*"]
PLACES = [*FOLDERS, *FILES, ".partial/new", "trajectories/new", "runs/new", "marks/new"]
COMMANDS = {
    "sweep": ["sweep", "grid.toml", "--out", "store", "--quiet"],
    "sweep more": ["sweep", "more.toml", "--out", "store", "--quiet"],
    "status": ["sweep", "--status", "store"],
    "check": ["check", "store"],
    "set aside": ["check", "store", "--set-aside"],
    "report": ["report", "store"],
    "query": ["query", "store", "SELECT count(*) FROM runs"],
    "tag": ["tag", "store", "again", "--all"],
    "delete": ["delete", "store", "--all"],
    "merge": ["merge", "store", "--out", "merged"],
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A swept store with tables, trajectories, analyses and a mark, all of them old."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "grid.toml").write_text(toml(GRID))
    (folder / "more.toml").write_text(toml({**GRID, "seeds": 3}))
    ds.sweep(folder / "grid.toml", folder / "store", progress=False)
    ds.load(folder / "store").tag("good")
    for file in (folder / "store").rglob("*"):
        os.utime(file, (LONG_AGO, LONG_AGO))
    return folder


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Within its block a minute without an end is a failure."""

    def too_long(number: int, frame: object) -> None:
        raise TimeoutError("it waits for something that never comes")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(60)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def put(place: str, kind: str, store: Path, home: Home) -> Path:
    """Something in a place of the store, instead of what is there."""
    if place.endswith("/*"):
        target = sorted((store / place[:-2]).iterdir())[0]
    elif place.endswith("/new"):
        target = store / place[:-4] / "0123456789ab.safetensors"
    else:
        target = store / place
    target.parent.mkdir(exist_ok=True)
    if target.is_dir():
        shutil.rmtree(target)
    target.unlink(missing_ok=True)
    STRANGERS[kind](target, home)
    with contextlib.suppress(FileNotFoundError, NotImplementedError, OSError):
        os.utime(target, (LONG_AGO, LONG_AGO), follow_symlinks=False)
    return target


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_works_without(
    name: str, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    assert main(COMMANDS[name]) == 0


CASES = [(place, kind) for place in PLACES for kind in STRANGERS]


def some_commands(case: int) -> list[str]:
    """A sweep and two more, others in each case."""
    others = [name for name in COMMANDS if name != "sweep"]
    return ["sweep", others[case % len(others)], others[(case // 2 + 4) % len(others)]]


@pytest.mark.parametrize(
    "commands",
    [pytest.param(None, id="some"), pytest.param([*COMMANDS], id="all", marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("case", range(len(CASES)), ids=[": ".join(case) for case in CASES])
def test_nothing_outside_is_touched(
    case: int,
    commands: list[str] | None,
    whole: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (place, kind), home = CASES[case], Home(tmp_path / "home")
    monkeypatch.chdir(tmp_path)
    for name in commands or some_commands(case):
        command = COMMANDS[name]
        for old in ("store", "merged"):
            shutil.rmtree(tmp_path / old, ignore_errors=True)
        shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
        stranger = put(place, kind, tmp_path / "store", home)
        before = os.lstat(stranger).st_ino
        with watched():
            code = main(command)
        said = capfd.readouterr()
        assert code in (0, 1, 2), (name, said.err)
        assert "Traceback" not in said.err, (name, said.err)
        assert all(line.startswith("dynascope: ") for line in said.err.splitlines()), said.err
        assert code == 0 or said.err or said.out, f"{name} failed without a word"
        assert home.unchanged(), name
        if not (kind == "a folder" and place in FOLDERS):  # which would be ours
            assert os.path.lexists(stranger), f"{name} removed what is not ours"
            assert os.lstat(stranger).st_ino == before, f"{name} replaced what is not ours"


@pytest.mark.parametrize("place", FOLDERS[:6])
def test_a_sweep_says_which_link_is_in_its_way(
    place: str, whole: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Before it trains anything."""
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    put(place, "a link to a folder", tmp_path / "store", Home(tmp_path / "home"))
    command = ["sweep", str(tmp_path / "more.toml"), "--out", str(tmp_path / "store")]
    assert main(command) in (1, 2)
    said = capfd.readouterr().err
    assert f"store/{place}" in said
    assert "it is a link, and links inside a store are not followed" in said


class TestLock:
    def lock(self, tmp_path: Path, whole: Path) -> Path:
        shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
        lock = tmp_path / "store" / ".lock"
        lock.unlink(missing_ok=True)
        return lock

    def sweep(self, tmp_path: Path) -> int:
        grid, store = tmp_path / "grid.toml", tmp_path / "store"
        return main(["sweep", str(grid), "--out", str(store), "--quiet"])

    def test_a_hard_link_is_not_written_through(
        self, whole: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        lock = self.lock(tmp_path, whole)
        (tmp_path / "thesis.tex").write_bytes(b"")
        os.link(tmp_path / "thesis.tex", lock)
        assert self.sweep(tmp_path) == 1
        assert "a second name" in capfd.readouterr().err
        assert (tmp_path / "thesis.tex").read_bytes() == b""

    @pytest.mark.parametrize(
        "contents", [b"years of work", b"{}", b"[1]", b"[" * 900, b'{"process": 1}', b"x" * 2000]
    )
    def test_a_file_that_is_no_lock_stays(
        self, contents: bytes, whole: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        lock = self.lock(tmp_path, whole)
        lock.write_bytes(contents)
        assert self.sweep(tmp_path) == 1
        assert "not a lock" in capfd.readouterr().err
        assert lock.read_bytes() == contents

    @pytest.mark.parametrize("contents", [b"", b'{"process": 1, "host": "h", "since": 0}'])
    def test_one_that_a_killed_sweep_left_is_taken(
        self, contents: bytes, whole: Path, tmp_path: Path
    ) -> None:
        self.lock(tmp_path, whole).write_bytes(contents)
        assert self.sweep(tmp_path) == 0


def test_two_stores_that_share_a_folder_keep_their_files(whole: Path, tmp_path: Path) -> None:
    """Trajectories of one are no orphans of the other."""
    for name in ("a", "b"):
        shutil.copytree(whole / "store", tmp_path / name)
    shutil.rmtree(tmp_path / "b" / "trajectories")
    (tmp_path / "b" / "trajectories").symlink_to(tmp_path / "a" / "trajectories")
    (tmp_path / "b" / "runs").rename(tmp_path / "kept")
    before = sorted((tmp_path / "a" / "trajectories").iterdir())
    assert main(["sweep", str(whole / "grid.toml"), "--out", str(tmp_path / "b"), "--quiet"]) == 1
    assert sorted((tmp_path / "a" / "trajectories").iterdir()) == before
    assert len(ds.load(tmp_path / "a", strict=True)) == 4


def test_a_link_to_a_store_is_a_store(whole: Path, tmp_path: Path) -> None:
    """The path that a person names is theirs."""
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    (tmp_path / "link").symlink_to("store")
    assert len(ds.load(tmp_path / "link", strict=True)) == 4
    grid = str(tmp_path / "more.toml")
    assert main(["sweep", grid, "--out", str(tmp_path / "link"), "--quiet"]) == 0
    assert len(ds.load(tmp_path / "store", strict=True)) == 6


def test_a_folder_that_becomes_a_link_while_it_is_open(whole: Path, tmp_path: Path) -> None:
    """What was read is known; what is read next is looked for again."""
    shutil.copytree(whole / "store", tmp_path / "store")
    (run, *_) = ds.load(tmp_path / "store")
    path = run.file
    (tmp_path / "store" / "trajectories").rename(tmp_path / "elsewhere")
    (tmp_path / "store" / "trajectories").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ds.DynascopeError, match="links inside a store are not followed"):
        run.parameters()
    with pytest.raises(OSError, match="links inside a store"), open_file(path):
        pass

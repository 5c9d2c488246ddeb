"""`--out` that cannot be written to is refused before anything is computed."""

import os
import subprocess
from pathlib import Path

import pytest
from command_line import ENVIRONMENT, files, short
from processes import COMMAND
from sweeping import namespaces

import dynascope as ds
from dynascope.cli import main
from dynascope.store.files import check_new

# It would take hours: whoever refuses it has not begun to train.
ENDLESS = ["train", "--epochs", "10000000", "--set", "record.weights_every=0"]
ENDLESS += ["--set", "record.state_every=0"]


def place(name: str, folder: Path) -> str:
    """A place below the folder where no runs can be kept."""
    target = folder / "target"
    target.mkdir()
    if name == "link to a folder":
        (folder / "link").symlink_to(target)
        return str(folder / "link")
    if name == "link to nothing":
        (folder / "link").symlink_to(folder / "nowhere")
        return str(folder / "link")
    if name == "below a link to nothing":
        (folder / "link").symlink_to(folder / "nowhere")
        return str(folder / "link/x")
    if name == "a file":
        (target / "file").write_text("mine")
        return str(target / "file")
    if name == "below a file":
        (target / "file").write_text("mine")
        return str(target / "file/x/y")
    if name == "something in it":
        (target / "file").write_text("mine")
        return str(target)
    if name == "long name":
        return str(target / ("x" * 256))
    if name == "long name further down":
        return str(target / "a" / ("ä" * 128) / "b")
    assert name == "long path"
    return str(target.joinpath(*(["x" * 200] * 20), "y"))


PLACES = {
    "link to a folder": "this is a link; name the folder",
    "link to nothing": "this is a link",
    "below a link to nothing": "is not a folder",
    "a file": "expected a new or empty folder",
    "below a file": "is not a folder",
    "something in it": "expected a new or empty folder",
    "long name": "File name too long",
    "long name further down": "File name too long",
    "long path": "File name too long",
}


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("command", ["train", "demo", "merge", "import"])
def test_a_place_where_nothing_can_be_kept(
    name: str, command: str, work: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", place(name, tmp_path)]
    words = {
        "train": ENDLESS,
        "demo": ["demo"],
        "merge": ["merge", str(work / "runs/first"), str(work / "runs/one")],
        "import": ["import", str(work)],  # which has nothing to import: that is found out later
    }[command]
    before = files(tmp_path)
    assert main([*words, *out]) == 2
    said = capsys.readouterr()
    assert PLACES[name] in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert files(tmp_path).keys() == before.keys()


@pytest.mark.parametrize("name", ["x" * 255, "ä" * 127, "a/b/c", "x", "with space", ".hidden"])
def test_a_place_that_is_not_refused_is_good_to_the_end(name: str, tmp_path: Path) -> None:
    runs = ds.train(short(training__epochs=1), 1, progress=False)
    before = sorted(tmp_path.rglob("*"))
    assert check_new(tmp_path / name) == tmp_path / name
    assert sorted(tmp_path.rglob("*")) == before
    runs.save(tmp_path / name)
    assert len(ds.load(tmp_path / name)) == 1


def test_looking_leaves_an_empty_folder_as_it_is(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir(mode=0o750)
    os.utime(empty, ns=(1, 1))
    before = empty.stat()
    check_new(empty)
    after = empty.stat()
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]
    assert (after.st_ino, after.st_mode, after.st_mtime_ns) == (before.st_ino, before.st_mode, 1)


# What a shell does to the folder "place" in a mount namespace of its own, where --out then is, and
# words of the sentence.
MOUNTS = {
    "empty mount point": ("mount -t tmpfs none place", "place", "it is a mount point"),
    "the same disk": ("mount --bind other place", "place", "it is a mount point"),
    "read-only": ("mount -t tmpfs -o ro none place", "place/x", "Read-only file system"),
    "read-only, deep": ("mount -t tmpfs -o ro none place", "place/x/y/z", "Read-only"),
    "no room": (
        "mount -t tmpfs -o size=64k none place; cat /dev/zero > place/full 2> /dev/null",
        "place/x",
        "the disk is full",
    ),
    "no inodes": ("mount -t tmpfs -o nr_inodes=3 none place", "place/x", "the disk is full"),
}
COMMANDS = {
    "train": ENDLESS,
    "merge": ["merge", "{work}/runs/first"],
    "sweep": ["sweep", "{work}/grid.toml"],
}


@pytest.mark.skipif(not namespaces(), reason="no mount namespaces here")
@pytest.mark.parametrize("name", MOUNTS)
@pytest.mark.parametrize("command", COMMANDS)
def test_mounts(name: str, command: str, work: Path, tmp_path: Path) -> None:
    mount, out, said = MOUNTS[name]
    if command == "sweep" and "mount point" in said:
        return  # it writes into the folder instead of replacing it
    (tmp_path / "place").mkdir()
    (tmp_path / "other").mkdir()
    grid = tmp_path / "grid.toml"
    grid.write_text("seeds = 1\n[base]\ntraining.epochs = 300000\nrecord.weights_every = 0\n")
    words = [
        word.format(work=tmp_path if command == "sweep" else work) for word in COMMANDS[command]
    ]
    line = " ".join(f"'{word}'" for word in [*COMMAND, *words, "--out", out])
    done = subprocess.run(
        [
            "unshare",
            "-rm",
            "sh",
            "-c",
            f"{mount}; {line}; code=$?; find place other >&2; exit $code",
        ],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    sentence, *left = done.stderr.splitlines()
    assert done.returncode in (1, 2)
    assert said in sentence
    made = {"place/x", "place/x/.lock"} if command == "sweep" else set()
    assert set(left) <= {"place", "place/full", "other"} | made

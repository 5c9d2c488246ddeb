"""Stores made by somebody who means harm, with right checksums, against all that reads stores.

A failure names the number of its store: `hostile_store(NUMBER, ...)` writes the same one again.
"""

import faulthandler
import json
import random
import resource
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hostile_attack import Watch, attack, commands, contents, some_figures
from hostile_stores import bases, hostile_store
from processes import COMMAND, environment
from showing import tiny_client

SECONDS = 60  # that one store may take at most, on a machine with other work to do
MEMORY = 2 * 2**30  # bytes that one store may make this process take, at most
ADDRESSES = 4 * 2**30  # bytes that a process may ask for at most


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stores that are changed, a tiny client, and files that are nobody's business."""
    place = tmp_path_factory.mktemp("hostile")
    bases(place / "bases")
    (place / "around" / "trajectories").mkdir(parents=True)
    for name in ("thesis.tex", "trajectories/0123456789ab.safetensors", ".lock"):
        (place / "around" / name).write_text("mine")
    tiny_client(place)
    return place


@pytest.fixture(scope="module")
def watch() -> Watch:
    return Watch()


@contextmanager
def watchdog(seed: int) -> Iterator[None]:
    """Ends a store that takes for ever: by an error or, if that does not help, for good."""

    def late(number: int, frame: object) -> None:
        raise TimeoutError(f"store {seed}: more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    faulthandler.dump_traceback_later(2 * SECONDS, exit=True)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        faulthandler.cancel_dump_traceback_later()


def memory_from_now_on() -> int:
    """The bytes that this process has; its peak, VmHWM, begins here."""
    Path("/proc/self/clear_refs").write_text("5")
    return status("VmRSS")


def status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def survive(
    seed: int, place: Path, watch: Watch, keep: Callable[[list[str]], bool]
) -> Counter[str]:
    """One store against everything; what came out."""
    mine = place / "around" / str(seed)
    store, out = mine / "store", place / "out" / str(seed)
    mine.mkdir()
    out.mkdir(parents=True)
    what = hostile_store(seed, store, place / "bases")
    known = contents(place / "around")
    inside = {name for name in known if name.startswith(f"{store}/")}
    before = memory_from_now_on()
    try:
        with watchdog(seed):
            watch.touched, watch.on = set(), True
            grid = bases(place / "bases")["grid"]
            faults = attack(store, grid, out, place / "static", keep)
    finally:
        watch.on = False
    assert not faults, f"store {seed} {what}:\n" + "\n".join(faults)
    assert watch.strangers(store, out) == [], f"store {seed} {what}"
    after = contents(place / "around")
    outside = {name: bytes_ for name, bytes_ in known.items() if name not in inside}
    assert {n: b for n, b in after.items() if not n.startswith(f"{store}/")} == outside, seed
    more = status("VmHWM") - before
    assert more < MEMORY, f"store {seed} {what}: {more} bytes"
    shutil.rmtree(mine)
    shutil.rmtree(out, ignore_errors=True)
    return faults.outcomes


def few(seed: int) -> Callable[[list[str]], bool]:
    """Which commands the store of a number is attacked by, where not all can be waited for."""
    rng, drawn = random.Random(seed), some_figures(seed)
    return lambda command: (
        command[0] in ("check", "report") or (drawn(command) and rng.random() < 0.2)
    )


@pytest.mark.parametrize("seed", range(20))
def test_some_commands(place: Path, watch: Watch, seed: int) -> None:
    assert survive(seed, place, watch, few(seed)).total()


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 1000, 50))
def test_all_commands(place: Path, watch: Watch, first: int) -> None:
    """A thousand stores."""
    outcomes: Counter[str] = Counter()
    for seed in range(first, first + 50):
        outcomes += survive(seed, place, watch, some_figures(seed))
    print(json.dumps(dict(outcomes)))
    assert all(outcomes[name] for name in ("GET 200", "report 0", "check 1"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1050))
def test_as_processes(place: Path, seed: int) -> None:
    """The same from outside, with little memory: what a person sees, and how it ends."""
    store, out = place / "processes" / str(seed) / "store", place / "out" / str(seed)
    what = hostile_store(seed, store, place / "bases")
    grid = bases(place / "bases")["grid"]
    chosen = [c for c in commands(store, grid, out, []) if few(seed)(c)]
    for command in chosen:
        done = subprocess.run(
            [*COMMAND, *command],
            capture_output=True,
            text=True,
            env=environment(),
            timeout=SECONDS,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES)),
        )
        lines = done.stderr.splitlines()
        assert done.returncode in (0, 1, 2), f"store {seed} {what}: {command}\n{done.stderr}"
        assert all(line.startswith("dynascope: ") for line in lines), (seed, what, lines)


def test_a_number_gives_the_same_store(place: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        hostile_store(7, tmp_path / name, place / "bases")
    one, other = (contents(tmp_path / name) for name in ("a", "b"))
    assert [*one.values()] == [*other.values()]

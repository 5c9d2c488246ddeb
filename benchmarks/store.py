"""How large may a store grow, and what does a sweep's bookkeeping cost?

    python benchmarks/store.py                     both, some minutes
    python benchmarks/store.py --runs 5000 --quick a smoke test
    python benchmarks/store.py --json store.json

Scale: a store of 100,000 runs with curves of 101 points, in shards of 1000 as sweeps make them. The
runs are a thousand trained ones, saved again and again under other seeds. Each time is taken in a
new process: opening with `ds.load`, a group-by through `ds.query`, the same group-by by plain
DuckDB on the files (the peer: it checks nothing), and the memory that the process has peaked at
once the store is open.

Bookkeeping: the same runs by `ds.train`, which writes nothing, and by `ds.sweep`, in turns; the
share is what the sweep takes more, of the clock and, less noisy, of the processors.
"""

import argparse
import dataclasses
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

import dynascope as ds
from dynascope.store.shard_write import make_shard
from report import machine
from settings import available_cores

GROUP_BY = "SELECT lr, batch, avg(accuracy) AS mean, count(*) AS runs FROM runs GROUP BY lr, batch"
CONFIGS = 20
SHARD = 1000

# Run in a new process: prints seconds, megabytes, and the number of runs.
MEASURE = """
import json, re, sys, time
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
began = time.perf_counter()
import dynascope as ds
import dynascope.store
told = {{"import": time.perf_counter() - began}}
base = peak()
began = time.perf_counter()
runs = ds.load({folder!r})
told["open"] = time.perf_counter() - began
told["memory"] = peak()
told["added"] = told["memory"] - base
told["runs"] = len(runs)
import duckdb
began = time.perf_counter()
answer = ds.query(runs, {sql!r})
told["group_by"] = time.perf_counter() - began
began = time.perf_counter()
files = {folder!r} + "/runs/*.parquet"
peer = duckdb.sql({sql!r}.replace("FROM runs", f"FROM '{{files}}'")).fetchall()
told["duckdb"] = time.perf_counter() - began
assert len(peer) == len(answer) == {configs}
began = time.perf_counter()
runs[len(runs) // 2].curves["test_loss"]
told["one_curve"] = time.perf_counter() - began
print(json.dumps(told))
"""


def main() -> int:
    options = parse()
    console = Console()
    result: dict[str, Any] = {
        "machine": machine(available_cores(), ("dynascope", "pyarrow", "duckdb", "numpy"))
    }
    with tempfile.TemporaryDirectory() as folder:
        made = make_store(Path(folder) / "store", options.runs)
        result["scale"] = made | measure(Path(folder) / "store", options.repeat)
    print_scale(console, result["scale"])
    result["bookkeeping"] = [
        bookkeeping(name, changes, seeds, options) for name, changes, seeds in SETTINGS
    ]
    for each in result["bookkeeping"]:
        console.print(
            f"{each['name']}: train {each['train']:.2f} s, sweep {each['sweep']:.2f} s, "
            f"bookkeeping {each['share']:.1%}, of processor time {each['cpu']:.1%} "
            f"(of {each['runs']} runs, {each['repeats']} turns)"
        )
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="less of everything")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def make_store(folder: Path, runs: int) -> dict[str, Any]:
    """A store of so many runs, and how long it took to write them."""
    lrs = [0.001 * (1 + i) for i in range(CONFIGS // 2)]
    base = {"training.epochs": 100, "record.weights_every": 0, "record.state_every": 0}
    trained = [
        run
        for lr in lrs
        for batch in (128, 512)
        for run in ds.train(
            ds.Config().replace(base | {"training.lr": lr, "training.batch": batch}),
            SHARD // CONFIGS,
            progress=False,
        )
    ]
    folder.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    for k in track(range(runs // SHARD), description="writing"):
        moved = [dataclasses.replace(run, seed=run.seed + k * SHARD) for run in trained]
        positions = range(k * SHARD, (k + 1) * SHARD)
        make_shard(moved, positions, batch=1).write(folder)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return {"write": time.perf_counter() - began, "size": size, "shards": runs // SHARD}


def measure(folder: Path, repeat: int) -> dict[str, float]:
    """The median of several new processes."""
    code = MEASURE.format(folder=str(folder), sql=GROUP_BY, configs=CONFIGS)
    told = [
        json.loads(
            subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
        )
        for _ in range(repeat)
    ]
    return {name: statistics.median(each[name] for each in told) for name in told[0]}


def print_scale(console: Console, scale: dict[str, float]) -> None:
    console.print(
        f"{scale['runs']:.0f} runs in {scale['shards']} shards, {scale['size'] / 1e6:.0f} MB: open "
        f"{scale['open']:.2f} s, group-by {scale['group_by']:.2f} s (plain DuckDB, unchecked: "
        f"{scale['duckdb']:.2f} s), one curve {scale['one_curve'] * 1e3:.0f} ms, peak memory once "
        f"open {scale['memory']:.0f} MB, of which the store {scale['added']:.0f} MB"
    )


# Name, options, seeds: every epoch's weights kept; and small runs that keep little.
SETTINGS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("default, 1000 epochs, all weights", {}, 60),
    ("100 epochs, no trajectories", {"training.epochs": 100, "record.weights_every": 0}, 600),
)


def bookkeeping(
    name: str, changes: dict[str, Any], seeds: int, options: argparse.Namespace
) -> dict[str, Any]:
    """Train and sweep the same runs in turns; the median of each, and the share of the rest."""
    seeds = seeds // 10 if options.quick else seeds
    times: dict[str, list[float]] = {"train": [], "sweep": []}
    computed: dict[str, list[float]] = {"train": [], "sweep": []}
    for turn in range(options.repeat):
        with tempfile.TemporaryDirectory() as folder:
            for how in ("train", "sweep") if turn % 2 else ("sweep", "train"):
                began, spent = time.perf_counter(), time.process_time()
                if how == "train":
                    ds.train(ds.Config().replace(changes), seeds, progress=False)
                else:
                    ds.sweep(
                        {"seeds": seeds, "base": changes or {"precision": "float32"}},
                        folder,
                        progress=False,
                    )
                times[how].append(time.perf_counter() - began)
                computed[how].append(time.process_time() - spent)
    train, sweep = (statistics.median(times[how]) for how in ("train", "sweep"))
    shares, cpu = (
        [s / t - 1 for s, t in zip(each["sweep"], each["train"], strict=True)]
        for each in (times, computed)
    )
    return {
        "name": name,
        "runs": seeds,
        "repeats": options.repeat,
        "train": train,
        "sweep": sweep,
        "share": statistics.median(shares),
        "cpu": statistics.median(cpu),
    }


if __name__ == "__main__":
    sys.exit(main())

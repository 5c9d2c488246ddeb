"""Results as tables for people and as one JSON document for programs."""

import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from linear import Growth
from memory import Memory
from operations import per_epoch
from settings import EPOCHS, SETTINGS, Measurement

OURS = "dynascope"


@dataclass(frozen=True)
class Comparison:
    """One setting; `times` has our engine and every peer that was measured."""

    setting: str
    times: Mapping[str, Measurement]
    peak: float | None

    @property
    def ours(self) -> Measurement:
        return self.times[OURS]

    def ratio(self, name: str) -> float:
        return self.times[name].seconds_per_run / self.ours.seconds_per_run

    @property
    def operations_per_second(self) -> float:
        return per_epoch(SETTINGS[self.setting]) * EPOCHS / self.ours.seconds_per_run

    @property
    def share_of_peak(self) -> float | None:
        return self.operations_per_second / self.peak if self.peak else None

    def to_dict(self) -> dict[str, Any]:
        return {
            "setting": self.setting,
            "operations_per_second": self.operations_per_second,
            "share_of_peak": self.share_of_peak,
            "implementations": {
                name: {**asdict(time), "ratio_to_dynascope": self.ratio(name)}
                for name, time in self.times.items()
            },
        }


def print_comparison(console: Console, comparison: Comparison) -> None:
    table = Table("", "s per run", "times ours", "how", title=comparison.setting)
    for name, time in comparison.times.items():
        ratio = "" if name == OURS else f"{comparison.ratio(name):.1f}"
        table.add_row(name, f"{time.seconds_per_run:.3g}", ratio, time.how)
    console.print(table)
    share = comparison.share_of_peak
    if share is not None:
        rate = comparison.operations_per_second / 1e9
        console.print(f"{OURS}: {rate:.1f} billion operations/s, {share:.0%} of peak\n")


def print_growth(console: Console, growth: Growth) -> None:
    table = Table(growth.option, "s per run", "s per unit", title=f"cost against {growth.option}")
    for value, seconds in zip(growth.values, growth.seconds, strict=True):
        table.add_row(str(value), f"{seconds:.3g}", f"{seconds / value:.3g}")
    console.print(table)
    console.print(
        f"{growth.fixed:.3g} s + {growth.slope:.3g} s per unit, farthest point "
        f"{growth.deviation:.0%} off; exponent of the upper half {growth.exponent:.2f}\n"
    )


def print_memory(console: Console, memory: Memory) -> None:
    console.print(
        f"{memory.runs} runs of {memory.epochs} epochs, weights every 10: peak resident size "
        f"{memory.peak_bytes / 1e6:.0f} MB ({memory.before_bytes / 1e6:.0f} MB before), "
        f"{memory.seconds:.0f} s"
    )


def machine(cores: int, versions: Iterable[str]) -> dict[str, Any]:
    """Where the numbers come from."""
    return {
        "processor": _processor(),
        "cores": cores,
        "load_before": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in versions},
    }


def _version(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.partition(":")[2].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()

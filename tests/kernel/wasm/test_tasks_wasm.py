"""What the WebAssembly kernel says of tasks is what the extension says, bit for bit."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from wasm_node import Node, same_bits
from wasm_weights import sent_task

import dynascope as ds
from dynascope import catalog
from dynascope.tasks import KernelTask, task_of

TASKS: list[dict[str, Any]] = [
    {"name": name, **sizes}
    for name in catalog.TASKS
    for sizes in (
        {"relevant": 4},
        {"vocab": 3, "length": 7, "relevant": [1, 2, 4, 6]},
        {"vocab": 12, "length": 40, "relevant": 20},
        {"vocab": 2, "length": 40, "relevant": 40},
        {"vocab": 1000, "length": 900, "relevant": 900},
    )
]


def test_tasks(tmp_path: Path) -> None:
    tasks = [task_of(ds.TaskConfig(**options)) for options in TASKS]
    rng = np.random.default_rng(0)
    cases = []
    for task in tasks:
        assert isinstance(task, KernelTask)
        size = (50, len(task.config.positions))
        prefixes = rng.integers(task.config.vocab, size=size, dtype=np.int32)
        cases.append({"kind": "task", "task": sent_task(task.config), "prefixes": prefixes})
    for task, case, got in zip(tasks, cases, Node(tmp_path).run(cases), strict=True):
        assert isinstance(task, KernelTask)
        assert task.groups is not None
        kernel, prefixes = task.config.kernel, case["prefixes"]
        assert same_bits(got["canonical"], kernel.canonical(prefixes).ravel())
        assert json.loads(got["names"]) == task.groups.names(prefixes)
        assert (got["exchangeable"] == kernel.exchangeable().ravel()).all()
        shares = np.zeros(0) if task.class_shares is None else task.class_shares
        assert same_bits(got["shares"], shares)
        count = "Infinity" if task.groups.count is None else str(task.groups.count)
        assert json.loads(got["rest"]) == [task.groups.kind, count]

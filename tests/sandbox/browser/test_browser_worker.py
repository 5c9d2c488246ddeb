"""A seed trained in a real browser's worker ends with the bits that it has in Python."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import Sandbox
from playwright.sync_api import Browser
from showing import show
from variant import ROOT
from wasm_node import Node, same_bits

import dynascope as ds
from dynascope.sandbox import client

EPOCHS, SEED = 200, 2**33 + 5
RUNS: dict[str, dict[str, Any]] = {
    "default": {},
    "float64, three dimensions": {
        **{"precision": "float64", "model.dim": 3, "model.activation": "silu"},
        **{"task.vocab": 3, "task.train_size": 301, "training.batch": 50},
        **{"training.optimizer": "adamw", "training.weight_decay": 0.01},
    },
}
_TRAIN = """(run) => new Promise((done, fail) => {
    const worker = new Worker("/assets/train-worker.js", { type: "module" });
    worker.onmessage = ({ data }) => done(data);
    worker.onerror = (event) => fail(event.message);
    worker.postMessage(run);
})"""


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client as it is built, with a worker of ours that uses the same wrapper of the kernel."""
    folder = tmp_path_factory.mktemp("worker")
    bundle = Node(folder).bundle
    shutil.copytree(client.FOLDER, folder / "static")
    shutil.copy(bundle, folder / "static/assets/kernel.js")
    shutil.copy(ROOT / "tests/kernel/wasm/train-worker.js", folder / "static/assets")
    return folder / "static"


@pytest.mark.parametrize("name", RUNS)
def test_a_worker_trains_to_the_same_bits(
    browser: Browser, static: Path, tmp_path: Path, name: str
) -> None:
    config = ds.Config().replace({"training.epochs": EPOCHS, **RUNS[name]})
    run = ds.train(config, [SEED], progress=False)[0]
    ds.Runs([run]).save(tmp_path / "store")
    positions = list(config.task.positions)
    task = config.to_dict()["task"] | {"positions": positions}
    given = {"config": config.to_dict(), "task": task, "seed": SEED, "epochs": EPOCHS}
    with show(static, tmp_path / "store", "--no-open") as server:
        page = Sandbox(browser, server.address).open_table()
        found = bytes(page.page.evaluate(_TRAIN, given))
        page.context.close()
    wanted = run.parameters().flat
    assert same_bits(np.frombuffer(found, wanted.dtype), wanted)
    assert page.problems == []

"""A folder that several modules of the command line begin with, and none changes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import short

import dynascope as ds


@pytest.fixture(scope="session")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs to start from and files to stumble over."""
    folder = tmp_path_factory.mktemp("cli")
    ds.train(short(), seeds=3, progress=False).save(folder / "runs/first")
    ds.train(short(model__dim=3), seeds=[7], progress=False).save(folder / "runs/one")
    ds.train(short(training__lr=100), seeds=[1], progress=False).save(folder / "runs/diverged")
    cosine = short(training__schedule="cosine")
    ds.train(cosine, seeds=[0], progress=False).save(folder / "runs/cosine")
    tokens = np.arange(12).reshape(1, 12) % 2
    data = ds.Data(train=(tokens, [1]))
    alone = short(training__batch=1)
    ds.train(alone, seeds=[0], data=data, progress=False).save(folder / "runs/data")
    kept = ds.train(short(record__weights_every=10), seeds=[4], progress=False)[0]
    foreign = replace(kept, origin=ds.Origin("import", "0" * 16))
    ds.Runs([foreign]).save(folder / "runs/imported")
    (folder / "empty").mkdir()
    for name, about in {
        "studied": '{"format": 1, "scale": "quick", "studies": ["width"]}',
        "broken-study": "{",
        "odd-study": '{"format": 1, "scale": "quick", "studies": "width"}',
        "later-study": '{"format": 99, "scale": "quick", "studies": []}',
    }.items():
        (folder / name).mkdir()
        (folder / name / "study.json").write_text(about)
    (folder / "dangling").symlink_to("nowhere")
    (folder / "broken.toml").write_text("[model\ndim = 3")
    (folder / "unknown.toml").write_text("[model]\ndmi = 3")
    (folder / "binary.toml").write_bytes(b"\xff\xfe")
    (folder / "good.toml").write_text("[model]\nhidden = 8\n[training]\nepochs = 7\nlr = 0.01\n")
    return folder

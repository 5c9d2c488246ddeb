"""Wrong input gets one sentence; what is loaded, and what happens where matplotlib is not."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plotted import drawn_run

import dynascope as ds


def run() -> ds.Run:
    return drawn_run("default")


def imported_run() -> ds.Run:
    """One that kept a few epochs, and cannot be replayed."""
    from dataclasses import replace

    from dynascope.run import Origin

    sparse = drawn_run("sparse")
    return replace(sparse, origin=Origin("import", "0" * 16))


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "layout": (lambda: ds.plots.figure("phsaes", run()), "did you mean 'phases'?"),
    "panel": (
        lambda: ds.plots.figure("panels", run(), panels="sequnce"),
        "did you mean 'sequence'?",
    ),
    "no panels": (lambda: ds.plots.figure("panels", run(), panels=[]), "at least one panel"),
    "no runs": (lambda: ds.plots.figure("panels"), "at least one run"),
    "attribute": (lambda: ds.plots.sequences, "did you mean"),
    "epoch": (lambda: ds.plots.view(run(), 13), "a whole number from 0 to 12"),
    "epochs": (lambda: ds.plots.figure("panels", run(), epochs=["x"]), "epoch"),
    "no epochs": (lambda: ds.plots.figure("panels", run(), epochs=[]), "at least one epoch"),
    "not kept": (lambda: ds.plots.view(imported_run(), 7), "the nearest is 5"),
    "diverged": (lambda: ds.plots.view(drawn_run("diverged"), 9), "diverged at epoch"),
    "source": (lambda: ds.plots.view(3), "a ds.Run, ds.Parameters or an ideal head"),
    "runs": (lambda: ds.plots.view(ds.Runs([run(), run()])), "a ds.Run"),
    "axes": (lambda: ds.plots.loss(run(), 3), "a matplotlib Axes"),
    "theme": (lambda: ds.plots.loss(run(), theme="sepia"), "theme: expected one of"),
    "scale": (lambda: ds.plots.loss(run(), scale="cubic"), "scale: expected one of"),
    "width": (lambda: ds.plots.figure("panels", run(), width="wide"), "width: expected"),
    "wide": (lambda: ds.plots.figure("panels", run(), width=1000), "width: expected"),
    "sequences": (lambda: ds.plots.view(run(), sequences=[[0, 1]]), "sequences of length 12"),
    "tokens": (lambda: ds.plots.view(run(), sequences=[[9] * 12]), "sequences"),
    "no config": (
        lambda: ds.plots.view(run().parameters(), config={"model.dim": 5}),
        "parameters.token_embedding: expected shape",
    ),
    "curve of weights": (
        lambda: ds.plots.loss(ds.theory.ideal_head(ds.Config())),
        "loss: expected a run",
    ),
    "phases of weights": (
        lambda: ds.plots.figure("phases", ds.theory.ideal_head(ds.Config())),
        "phases: expected a run",
    ),
    "two runs": (lambda: ds.plots.figure("phases", run(), run()), "expected one run, but got 2"),
    "no spike": (lambda: ds.plots.figure("spike", run()), "has no spike of its loss"),
    "phases of own data": (
        lambda: ds.plots.figure("phases", drawn_run("own data")),
        "symmetries are known",
    ),
    "circuits of own data": (
        lambda: ds.plots.figure("circuits", drawn_run("own data")),
        "symmetries are known",
    ),
    "shares of own data": (lambda: ds.plots.shares(drawn_run("own data")), "symmetries are known"),
    "argument": (lambda: ds.plots.loss(run(), colour="red"), "there is no argument 'colour'"),
    "band": (lambda: ds.plots.band([run()], between=(0.9, 0.1)), "two rising shares"),
    "no band": (lambda: ds.plots.band([]), "at least one run"),
    "band of what": (lambda: ds.plots.band(run()), "ds.Runs"),
    "frames": (lambda: ds.plots.animate(run(), epochs=[]), "at least one epoch"),
    "speed": (lambda: ds.plots.animate(run(), fps=0), "fps: expected"),
    "film of what": (lambda: ds.plots.animate(run(), panels="lss"), "did you mean 'loss'?"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    call, words = REFUSED[case]
    with pytest.raises(ds.DynascopeError) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_weights_kept_at_the_ends_only_are_replayed() -> None:
    config = drawn_run("default").config.replace({"record.weights_every": 0})
    ends = ds.train(config, [3], progress=False)[0]
    wanted = ds.plots.view(run(), 5).points("sequence")
    assert np.array_equal(ds.plots.view(ends, 5).points("sequence"), wanted)
    with pytest.raises(ds.DynascopeError, match="weights_every"):
        ds.plots.figure("phases", ends)


def said(code: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_dynascope_loads_no_matplotlib() -> None:
    code = "import sys, dynascope; dir(dynascope); assert 'matplotlib' not in sys.modules"
    code += "; import dynascope.cli.figure; assert 'matplotlib' not in sys.modules"
    done = said(code)
    assert done.returncode == 0, done.stderr


def test_plots_load_no_pyplot() -> None:
    """Which would choose a backend, and keep every figure."""
    done = said("import sys, dynascope.plots; assert 'matplotlib.pyplot' not in sys.modules")
    assert done.returncode == 0, done.stderr


GONE = "import sys; sys.modules['matplotlib'] = None\n"


def test_without_matplotlib_a_sentence_says_what_to_install(tmp_path: Path) -> None:
    wanted = "plots: matplotlib is not installed; run: pip install 'dynascope[plots]'."
    done = said(GONE + "import dynascope as ds; ds.plots")
    assert done.stderr.strip().endswith(wanted)
    ds.Runs([run()]).save(tmp_path / "runs")
    command = ["figure", "loss", str(tmp_path / "runs"), "-o", str(tmp_path / "x.pdf")]
    command[1] = "panels"
    done = said(GONE + f"from dynascope.cli import main; sys.exit(main({command!r}))")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"dynascope: {wanted}\n"
    assert not (tmp_path / "x.pdf").exists()
    done = said(GONE + "import dynascope as ds; ds.nonsense")
    assert "there is no 'nonsense'" in done.stderr

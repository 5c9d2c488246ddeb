"""`run.sandbox()` in a real JupyterLab, and what is left of it in HTML with the network off."""

from pathlib import Path
from typing import Any

import pytest
from browsing import PANELS
from jupyter import NotebookPage, html_of, jupyter_lab, write_notebook
from playwright.sync_api import Browser, Frame, expect

MAKE = """\
import dynascope as ds
config = ds.Config().replace({"training.epochs": 40})
runs = ds.train(config, range(2), progress=False)
"""
PAGE = b'<meta http-equiv="Content-Security-Policy"'  # as it is; what is saved has it escaped
KERNEL = b"\0asm\1\0\0\0"
_SHOWN = """(epochs) => { const slots = globalThis.dynascope?.slots.value ?? [];
    return slots.length === epochs.length &&
        slots.every((slot, i) => slot.scene.value?.epoch === epochs[i]); }"""


def shows(frame: Frame, *epochs: int) -> None:
    frame.wait_for_function(_SHOWN, arg=list(epochs), timeout=30_000)


@pytest.mark.slow
def test_the_sandbox_within_a_notebook(browser: Browser, tmp_path: Path) -> None:
    """All in one: most of the time goes into starting JupyterLab."""
    notebook = write_notebook(
        tmp_path / "live.ipynb",
        MAKE + "widget = runs[0].sandbox(epoch=20)\nwidget",
        "widget.epoch = 5",
        'widget.marked = {"kind": "position", "index": 3}',
        "print(widget.epoch, widget.marked)",
        "widget.epoch = 99",
        "runs[0].sandbox(beside=runs[1])",
    )
    with jupyter_lab(tmp_path) as address:
        page = NotebookPage(browser, address.format(notebook.name))
        page.run(0)
        frame = page.frame(0)
        shows(frame, 20)
        expect(frame.locator(".panel")).to_have_count(PANELS)
        frame.wait_for_function("() => dynascope.slots.value[0]?.analysis.value")
        _from_python(page, frame)
        _to_python(page, frame)
        _refused(page)
        _sent_once(page)
        assert page.problems == []
        page.save(notebook)
        page.context.close()
    check_saved(browser, html_of(notebook), [[20], [40, 40]])  # as they were first shown


def _from_python(page: NotebookPage, frame: Frame) -> None:
    page.run(1)
    shows(frame, 5)
    page.run(2)
    expect(frame.locator(".pointer dt").first).to_have_text("position")
    expect(frame.locator(".pointer dd").first).to_contain_text("3")


def _to_python(page: NotebookPage, frame: Frame) -> None:
    """A key, and what is kept marked by Escape: nothing."""
    frame.locator(".play").press("ArrowRight")
    shows(frame, 6)
    told = page.run(3)
    for _ in range(20):  # the page tells a moment later
        if told.inner_text().startswith("6 "):
            break
        page.page.wait_for_timeout(200)
        told = page.run(3)
    expect(told).to_contain_text("6 {'run': 0, 'kind': 'position', 'index': 3}")
    frame.locator(".play").press("Escape")
    expect(frame.locator(".pointer dt")).to_have_count(0)
    for _ in range(20):
        if told.inner_text().startswith("6 None"):
            break
        page.page.wait_for_timeout(200)
        told = page.run(3)
    expect(told).to_contain_text("6 None")


def _sent_once(page: NotebookPage) -> None:
    """Client and kernel are there once for all cells."""
    assert (page.times_received(PAGE), page.times_received(KERNEL)) == (1, 1)
    page.run(5)
    shows(page.frame(5), 40, 40)
    assert (page.times_received(PAGE), page.times_received(KERNEL)) == (1, 1)


def _refused(page: NotebookPage) -> None:
    expect(page.run(4)).to_contain_text("epoch: expected a whole number from 0 to 40, but got 99.")


def check_saved(browser: Browser, file: Path, epochs: list[list[int]]) -> None:
    """Each saved frame shows these epochs, without a network."""
    context = browser.new_context(offline=True, viewport={"width": 1600, "height": 1300})
    page = context.new_page()
    page.goto(file.as_uri(), wait_until="domcontentloaded")
    frames = page.locator("iframe[srcdoc]")
    expect(frames).to_have_count(len(epochs))
    for index, wanted in enumerate(epochs):
        expect(frames.nth(index)).to_have_attribute(
            "sandbox", "allow-scripts allow-downloads allow-forms"
        )
        frame = frames.nth(index).element_handle().content_frame()
        assert frame is not None
        shows(frame, *wanted)
        frame.locator(".play").press("Home")
        shows(frame, *(0 for _ in wanted))
    context.close()


def test_cells_that_a_program_runs(browser: Browser, tmp_path: Path) -> None:
    """nbconvert keeps the state of widgets, and would show those, for which a network is needed."""
    notebook = write_notebook(tmp_path / "run.ipynb", MAKE + "runs[0].sandbox(epoch=7)")
    check_saved(browser, html_of(notebook, "--execute"), [[7]])


def test_the_settings_of_the_frame_are_strict(browser: Browser) -> None:
    """What lies in it cannot reach the notebook."""
    import dynascope as ds

    run = ds.train(ds.Config().replace({"training.epochs": 2}), progress=False)[0]
    saved: Any = run.sandbox()._repr_mimebundle_()[0]["text/html"]
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.set_content(f"<body>{saved}</body>")
    frame = page.locator("iframe").element_handle().content_frame()
    assert frame is not None
    shows(frame, 2)
    reached = "() => { try { return String(parent.document.title) } catch { return 'refused' } }"
    assert frame.evaluate(reached) == "refused"
    context.close()

"""The pictures of live training in the docs.

    python docs/figures/live.py [NAME ...]

Trains in the sandbox's playground, in a headless Chromium (Debian's, or what CHROMIUM names), as a
person would: from the form, with the mouse.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
SIZES = {"": (1440, 900), "-wide": (1920, 1080), "-phone": (390, 844)}


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "play.html"
        command = [sys.executable, "-m", "dynascope", "export", "--playground", "-o", str(file)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name, (play, sizes) in VIEWS.items():
            if names and name not in names:
                continue
            for size in sizes:
                for theme in ("light", "dark"):
                    width, height = SIZES[size]
                    page = browser.new_page(viewport={"width": width, "height": height})
                    page.add_init_script("localStorage.setItem('dynascope.introduced', 'yes')")
                    page.goto(f"{file.as_uri()}#v=1&theme={theme}")
                    play(page)
                    page.wait_for_timeout(1500)  # axes come to rest
                    page.screenshot(path=HERE / f"{name}{size}-{theme}.png")
                    page.close()
                    print(f"{name}{size}-{theme}.png")
        browser.close()


def train(page: Page, seed: int = 15, epochs: int = 600) -> None:
    """A run of the default, from the form, to its end."""
    page.locator("#live-seed").fill(str(seed))
    page.get_by_label("training.epochs").fill(str(epochs))
    page.locator(".live-form button[type=submit]").click()
    ended = f"() => dynascope.slots.value[0]?.live?.now.value.epoch >= {epochs}"
    page.wait_for_function(ended, timeout=60_000)


def seek(page: Page, epoch: int) -> None:
    """The slider, moved by its keys."""
    page.evaluate(f"() => (dynascope.view.value = {{ ...dynascope.view.value, epoch: {epoch} }})")
    shown = f"() => dynascope.slots.value.every((slot) => slot.scene.value?.epoch === {epoch})"
    page.wait_for_function(shown)


def form(page: Page) -> None:
    """Before there is a run."""
    page.locator(".live-form").wait_for()


def live(page: Page) -> None:
    """A run, half way."""
    train(page)
    seek(page, 80)


def branch(page: Page) -> None:
    """A token pushed across the origin, and what became of it, as a difference."""
    train(page, epochs=300)
    seek(page, 100)
    for number in ("number 1", "number 2"):
        field = page.get_by_label(number, exact=True)
        field.fill(str(-float(field.input_value())))
        field.press("Enter")
    page.get_by_role("button", name="Train on from here").click()
    ended = "() => dynascope.slots.value[1]?.live?.now.value.epoch >= 300"
    page.wait_for_function(ended, timeout=60_000)
    seek(page, 110)
    page.get_by_role("button", name="Difference").click()


VIEWS: dict[str, tuple[Callable[[Page], None], tuple[str, ...]]] = {
    "live-form": (form, ("", "-phone")),
    "live": (live, ("", "-wide", "-phone")),
    "live-branch": (branch, ("",)),
}

if __name__ == "__main__":
    main(sys.argv[1:])

"""The pictures of the sandbox in the README and the docs.

    python docs/figures/sandbox.py [NAME ...]

Trains the first seeds of the default, shows some of them, and takes pictures in a headless Chromium
(Debian's, or what CHROMIUM names).
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import dynascope as ds

HERE = Path(__file__).parent
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
VIEWS = {  # name: seed, what the address says
    "sandbox": (15, "t=80"),
    "sandbox-spike": (15, "t=456&spike=0"),
    "sandbox-held": (15, "t=900&held=60"),
    "sandbox-sum": (13, "t=1000&colour=sum"),
}
_READY = """() => { const { slots } = globalThis.dynascope;
    return slots.value.length && slots.value.every((slot) =>
        slot.scene.value && slot.circuit.value && slot.sum.value && slot.analysis.value); }"""


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        store = Path(folder) / "default"
        ds.train(seeds=range(20), progress=False).save(store)
        ds.load(store).analyse(progress=False)
        command = [sys.executable, "-m", "dynascope", "show", str(store), "--no-open"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            assert server.stdout is not None
            found = re.search(r"http\S+", server.stdout.readline())
            assert found, "dynascope show did not start"
            for name in names or VIEWS:
                seed, view = VIEWS[name]
                run = ds.load(store).by_seed(seed)
                for theme in ("light", "dark"):
                    address = f"{found[0]}#v=1&run={run.id}&theme={theme}&{view}"
                    take(browser, address, HERE / f"{name}-{theme}.png")
        finally:
            browser.close()
            server.terminate()
            server.wait(30)


def take(browser: Browser, address: str, to: Path) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.add_init_script("localStorage.setItem('dynascope.introduced', 'yes')")
    page.goto(address)
    page.wait_for_function(_READY, timeout=60_000)
    page.wait_for_timeout(1500)  # axes come to rest
    page.screenshot(path=to)
    page.close()
    print(to.name)


if __name__ == "__main__":
    main(sys.argv[1:])

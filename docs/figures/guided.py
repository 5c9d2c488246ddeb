"""The pictures and the film of guided experiments in the docs.

    python docs/figures/guided.py [pictures | film]

Does the experiment *Cause a spike* in the playground, in a headless Chromium (Debian's, or
what CHROMIUM names), as a person would: from the card, with the mouse.
"""

import io
import subprocess
import sys
import tempfile
from pathlib import Path

from live import CHROMIUM, HERE, SIZES, seek
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, sync_playwright

FILM = HERE / "guided-spike.webp"
FILM_SIZE = (1080, 675)
FAST, READ = 90, 2600  # milliseconds of a frame: one of many, one to read
EPOCHS = 300

# A pointer to be seen in the film, where the mouse is.
_POINTER = """() => {
    const dot = document.createElement("div");
    dot.id = "pointer";
    document.body.append(dot);
    const { style } = dot;
    Object.assign(style, { position: "fixed", zIndex: 99, width: "18px", height: "18px",
        borderRadius: "50%", background: "rgb(220 30 60 / 45%)", border: "2px solid #c01030",
        pointerEvents: "none", translate: "-50% -50%" });
    addEventListener("pointermove", ({ clientX, clientY }) =>
        Object.assign(style, { left: `${clientX}px`, top: `${clientY}px` }), true);
}"""
# Where token 0 is drawn: the card at the side says what is under the pointer.
_TOKEN = """async () => {
    const canvas = document.querySelector("[data-panel=tokens] canvas");
    const box = canvas.getBoundingClientRect();
    for (let y = 4; y < box.height; y += 3)
        for (let x = 4; x < box.width; x += 3) {
            const at = { clientX: box.left + x, clientY: box.top + y, bubbles: true };
            canvas.dispatchEvent(new PointerEvent("pointermove", at));
            await Promise.resolve();
            const [kind, number] = ["dt", "dd"].map((each) =>
                document.querySelector(`.pointer ${each}`)?.textContent);
            if (kind === "token" && number?.trim().startsWith("0"))
                return [at.clientX, at.clientY];
        }
}"""
_TRAINED = """([slot, epochs]) => dynascope.slots.value[slot]?.info.epochs >= epochs"""


def main(wanted: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "play.html"
        command = [sys.executable, "-m", "dynascope", "export", "--playground", "-o", str(file)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        if "film" not in wanted:
            pictures(browser, file.as_uri())
        if "pictures" not in wanted:
            film(browser, file.as_uri())
        browser.close()


def opened(browser: Browser, address: str, size: tuple[int, int]) -> Page:
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    page.add_init_script("localStorage.setItem('dynascope.introduced', 'yes')")
    page.goto(address)
    page.locator(".guide-card").wait_for()
    return page


def pictures(browser: Browser, address: str) -> None:
    """After the push, at every size people use."""
    for size, pixels in SIZES.items():
        for theme in ("light", "dark"):
            page = opened(browser, f"{address}#v=1&guide=spike&theme={theme}", pixels)
            page.get_by_role("button", name="Train seed 15").click()
            page.wait_for_function(_TRAINED, arg=[0, EPOCHS])
            page.get_by_role("button", name="Next").click()
            seek(page, 200)
            for name, number in (("number 1", "0.77"), ("number 2", "1.65")):
                page.get_by_label(name, exact=True).fill(number)
                page.get_by_label(name, exact=True).press("Enter")
            page.wait_for_function("() => dynascope.slots.value[0]?.scores.value?.train")
            page.get_by_role("button", name="Check", exact=True).click()
            page.evaluate("() => document.activeElement.blur()")
            page.wait_for_timeout(1500)  # axes come to rest
            page.evaluate("() => document.querySelector('.side').scrollTo(0, 0)")
            page.screenshot(path=HERE / f"guided{size}-{theme}.png")
            page.close()
            print(f"guided{size}-{theme}.png")


class Film:
    """Frames, each shown for some milliseconds."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frames: list[Image.Image] = []
        self.times: list[int] = []

    def frame(self, milliseconds: int = FAST) -> None:
        shot = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        self.frames.append(shot.resize(FILM_SIZE, Image.Resampling.LANCZOS))
        self.times.append(milliseconds)

    def click(self, what: Locator) -> None:
        """Goes there, so that one sees it, and clicks."""
        what.scroll_into_view_if_needed()
        box = what.bounding_box()
        assert box is not None
        place = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(*place)
        self.frame(700)
        self.page.mouse.click(*place)

    def button(self, name: str) -> None:
        self.click(self.page.get_by_role("button", name=name, exact=True).first)

    def save(self) -> None:
        first, *rest = self.frames
        first.save(
            FILM,
            save_all=True,
            append_images=rest,
            duration=self.times,
            loop=0,
            quality=60,
            method=6,
        )
        print(f"{FILM.name}: {len(self.frames)} frames, {FILM.stat().st_size / 1e6:.1f} MB")


def film(browser: Browser, address: str) -> None:
    page = opened(browser, f"{address}#v=1&guide=spike&theme=light", SIZES[""])
    page.evaluate(_POINTER)
    made = Film(page)
    made.frame(READ)
    made.button("Train seed 15")
    page.get_by_label("pace of training").wait_for()
    page.get_by_label("pace of training").select_option("15")  # slow enough to be watched
    while not page.evaluate(_TRAINED, [0, EPOCHS]):
        made.frame()
    made.frame(900)
    made.button("Next")
    made.frame(READ)
    made.button("Go to epoch 200")
    page.wait_for_timeout(1500)
    made.frame(900)
    drag_token(made)
    made.button("Check")
    made.frame(2 * READ)
    made.button("Next")
    made.button("Train on from here")
    while not page.evaluate(_TRAINED, [1, EPOCHS]):
        made.frame()
    made.button("Check")
    made.frame(2 * READ)
    made.save()
    page.close()


def drag_token(made: Film) -> None:
    """Up and to the left, until embeddings have passed the origin."""
    page = made.page
    x, y = page.evaluate(_TOKEN)
    page.mouse.move(x, y)
    made.frame(900)
    page.mouse.down()
    for _ in range(24):
        x, y = x - 0.7, y - 0.7
        page.mouse.move(x, y)
        page.wait_for_timeout(60)
        made.frame()
        token = page.evaluate("() => dynascope.slots.value[0].edited.value?.whatIf.weights.at(0)")
        if token is not None and token < 0.8:
            break
    page.mouse.up()
    page.wait_for_timeout(400)
    made.frame(READ)


if __name__ == "__main__":
    main(sys.argv[1:])

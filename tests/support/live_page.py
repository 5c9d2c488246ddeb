"""Training in the page, as a person does it: by the form, the slider, the card and the mouse."""

import base64
from typing import Any

import numpy as np
import numpy.typing as npt
from playwright.sync_api import Page, expect

import dynascope as ds

# Where a thing can be taken hold of: the pointer becomes a hand, and the card says what it is.
# Nobody's card says that of the query.
_PLACE = """async ([panel, kind, index]) => {
    const canvas = document.querySelector(`[data-panel=${panel}] canvas`);
    const box = canvas.getBoundingClientRect();
    for (let y = 4; y < box.height; y += 4)
        for (let x = 4; x < box.width; x += 4) {
            const at = { clientX: box.left + x, clientY: box.top + y, bubbles: true };
            canvas.dispatchEvent(new PointerEvent("pointermove", at));
            await Promise.resolve();
            if (canvas.style.cursor !== "grab") continue;
            const [name, number] = ["dt", "dd"].map((each) =>
                document.querySelector(`.pointer ${each}`)?.textContent);
            const found = kind === "query" || (name === kind && number?.trim().startsWith(index));
            if (found) return [at.clientX, at.clientY];
        }
}"""
_BYTES = """([slot, what]) => { const found = dynascope.slots.value[slot];
    const array = what === "weights" ? found.live.weights.rows(0, Infinity)
        : what === "edited" ? found.edited.value.whatIf.weights : found.curves[what];
    let text = "";
    for (const byte of new Uint8Array(array.buffer, array.byteOffset, array.byteLength))
        text += String.fromCharCode(byte);
    return btoa(text); }"""
_REACHED = """([slot, epoch]) => { const found = dynascope.slots.value[slot];
    return found?.live?.now.value.epoch >= epoch && !found.live.now.value.training &&
        found.info.epochs >= epoch; }"""
_SHOWN = """(epoch) => { const slots = dynascope.slots.value;
    return slots.length > 0 && slots.every((slot) => slot.scene.value?.epoch === epoch &&
        slot.shownWeights.value); }"""
_ANSWERED = """(slot) => { const { edited, answered, scores } = dynascope.slots.value[slot] ?? {};
    return edited?.value?.number === answered.value && scores.value?.train; }"""


class LivePage:
    """A page that trains."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def train(self, options: dict[str, Any], seed: int) -> None:
        """A new run from the form, to its end; `training.epochs` must be among the options."""
        self.page.locator(".live-form, .work, tbody tr[aria-rowindex]").first.wait_for()
        if not self.page.locator(".live-form").is_visible():
            self.page.get_by_role("button", name="Train", exact=True).first.click()
        self.page.locator(".live-form details").evaluate("(details) => { details.open = true; }")
        for name, value in options.items():
            field = self.page.locator(".live-form").get_by_label(name, exact=True)
            if field.evaluate("(field) => field.tagName") == "SELECT":
                field.select_option(str(value))
            else:
                field.fill(str(value))
        self.page.locator("#live-seed").fill(str(seed))
        self.page.locator(".live-form button[type=submit]").click()
        self.reaches(options["training.epochs"])

    def reaches(self, epoch: int, slot: int = 0) -> None:
        """Wait until it has, and stands still."""
        self.page.wait_for_function(_REACHED, arg=[slot, epoch], timeout=60_000)

    def seek(self, epoch: int) -> None:
        change = "(epoch) => { dynascope.view.value = { ...dynascope.view.value, epoch }; }"
        self.page.evaluate(change, epoch)
        self.page.wait_for_function(_SHOWN, arg=epoch)

    def branch(self) -> None:
        self.page.get_by_role("button", name="Train on from here").click()

    def type_vector(self, *numbers: float) -> None:
        """Into the fields of what is chosen."""
        for i, number in enumerate(numbers):
            field = self.page.get_by_label(f"number {i + 1}", exact=True)
            field.fill(repr(number))
            field.press("Enter")
        self.answered()

    def answered(self, slot: int = 0) -> float:
        """The loss on the train set that the page has for a change."""
        found = self.page.wait_for_function(_ANSWERED, arg=slot).json_value()
        return float(found["loss"])

    def place(self, panel: str, kind: str, index: int) -> tuple[float, float]:
        """Where a point can be taken hold of."""
        self.page.locator(f"[data-panel={panel}]").scroll_into_view_if_needed()
        place, before = None, []
        while place is None or place != before:  # axes glide for a while
            before = place
            place = self.page.evaluate(_PLACE, [panel, kind, str(index)])
            assert place is not None, f"no {kind} {index} in {panel}"
            self.page.wait_for_timeout(100)
        return float(place[0]), float(place[1])

    def drag(self, panel: str, kind: str, index: int, by: tuple[float, float]) -> None:
        """Take hold of a point, and let it go elsewhere."""
        place = self.place(panel, kind, index)
        self.page.mouse.move(*place)
        self.page.mouse.down()
        for share in (0.3, 0.6, 1.0):
            self.page.mouse.move(place[0] + share * by[0], place[1] + share * by[1])
        self.page.mouse.up()
        self.answered()

    # ---- what it has -------------------------------------------------------------------------
    def numbers(self, what: str, slot: int = 0) -> npt.NDArray[np.float32]:
        """ "weights" [epochs, size], "edited" [size], or a curve."""
        held = base64.b64decode(self.page.evaluate(_BYTES, [slot, what]))
        return np.frombuffer(held, "<f4")

    def edited(self, config: ds.Config, slot: int = 0) -> ds.Parameters:
        """The weights as somebody has changed them."""
        return ds.Parameters.from_flat(self.numbers("edited", slot).copy(), config.shapes)

    def is_run(self, run: ds.Run, slot: int = 0) -> None:
        """Every weight and curve is that run's, bit for bit."""
        weights = self.numbers("weights", slot)
        assert np.array_equal(weights.view("u4"), run.weights.ravel().view("u4"))
        for name in ("train_loss", "test_loss", "train_accuracy", "test_accuracy"):
            curve = np.ascontiguousarray(run.curves[name])
            assert np.array_equal(self.numbers(name, slot).view("u4"), curve.view("u4")), name

    def no_trouble(self) -> None:
        expect(self.page.get_by_role("alert")).to_have_count(0)

"""Draw the pictures of docs/gallery.md, and write that page.

    python docs/figures/gallery.py            # everything
    python docs/figures/gallery.py phases     # pictures whose name contains this, and the page

Needs the extra `plots`. Every entry is code that is run here as it stands on the page; its last
line is the picture.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from PIL import Image

from dynascope.figure_layouts import LAYOUTS
from dynascope.plots import PANELS

FOLDER = Path(__file__).parent / "gallery"
PAGE = Path(__file__).parents[1] / "gallery.md"
_DOTS = 130  # per inch

RUNS = """\
import dynascope as ds

runs = ds.train(seeds=20)  # all defaults: those of the paper
run = runs[15]
"""


class Entry(NamedTuple):
    """A picture, and the code that makes it."""

    name: str  # of its file
    title: str
    code: str
    text: str = ""  # what there is to see


def panels() -> Iterator[Entry]:
    for name, panel in PANELS.items():
        yield Entry(f"panel-{name}", panel.title, f"ds.plots.{name}(run, epoch=80)")


MORE = (
    Entry("panel-band", "Many runs", 'ds.plots.band(runs, "test_accuracy")'),
    Entry("panel-sparsity", "Sparsity", "ds.plots.sparsity(runs)"),
)

MANY = Entry(
    "many-runs",
    "Rates, dots, cloud, bars, thresholds, effects",
    """\
import numpy as np
from dynascope.share_interval import wilson

figure, axes = ds.plots.subplots(2, 3, width="page", height=4)
(rates, dots, cloud), (bars, lines, effects) = axes
names = [f"runs/first#{run.id}" for run in runs]  # in SVG, every point leads to its run
accuracy = runs.curve("test_accuracy")  # [runs, epochs + 1]
epochs = np.arange(0, 1001, 100)

counts = (accuracy[:, epochs] > 0.9).sum(axis=0)
ds.plots.rates(epochs, counts, [20] * 11, rates, x_label="epoch", title="Above 0.9")

x, values, of = np.tile(epochs, 20), accuracy[:, epochs].ravel(), np.repeat(names, 11)
look = {"x_label": "epoch", "y_label": "test accuracy", "title": "Each run, and the quartiles"}
ds.plots.dots(x, values, dots, runs=of, middle="median", **look)

solved = ["solved" if run.summary()["accuracy"] > 0.9 else "not solved" for run in runs]
losses = runs.curve("train_loss")[:, [200, 1000]].T
look = {"x_label": "loss at epoch 200", "y_label": "at the end", "title": "Early and late loss"}
ds.plots.cloud(*losses, cloud, runs=names, groups=solved, scale_x="log", scale_y="log", **look)

verdicts = [ds.analysis.circuit(run.parameters(), run.config).verdict.name for run in runs]
kinds = sorted(set(verdicts), key=verdicts.count, reverse=True)
ds.plots.bars(kinds, [verdicts.count(kind) for kind in kinds], bars, of=20, title="Circuits")

found = [ds.analysis.sparsity(run.parameters(), run.config) for run in runs]
shares = np.array([each.share for each in found])
ds.plots.thresholds(found[0].eps, shares, solved, lines, runs=names, title="Sparsity")

rows, ends = [f"by epoch {epoch}" for epoch in epochs[1:]], [wilson(n, 20) for n in counts[1:]]
told = [
    "holds" if low > 0.5 else "does not hold" if high < 0.5 else "not decidable here"
    for low, high in ends
]
look = {"reference": 0.5, "verdicts": told, "title": "Most runs are above 0.9"}
ds.plots.effects(rows, counts[1:] / 20, *np.transpose(ends), effects, **look)
figure""",
    "Each takes plain arrays, so it draws whatever you counted or measured.",
)

LAYOUT_CODE = {
    "panels": 'ds.plots.figure("panels", run, epochs=80)',
    "phases": 'ds.plots.figure("phases", run)',
    "spike": 'ds.plots.figure("spike", run)',
    "circuits": 'ds.plots.figure("circuits", runs)',
    "attention": 'ds.plots.figure("attention", run)',
    "gradients": 'ds.plots.figure("gradients", run)',
    "landscape": 'ds.plots.figure("landscape", run, directions="epochs", toward=(0, 62))',
}

_CIRCUIT = 'panels="positions,normalized,attention,sequence,decision_map"'
PAPER = (
    Entry(
        "paper-01",
        "Figure 1: a clustering head",
        """\
head = ds.theory.ideal_head()
shown = "tokens,positions,normalized,sequence,decision_map"
ds.plots.figure("panels", head, panels=shown, all_labels=True)""",
        "Built, not trained: six clusters, one for each number of ones.",
    ),
    Entry(
        "paper-02",
        "Figure 2: faulty attention, corrected by value",
        f'ds.plots.figure("panels", runs[15], {_CIRCUIT})',
        "Attention looks at irrelevant positions too, but what they add is all the same.",
    ),
    Entry(
        "paper-03",
        "Figure 3: some invariances learnt",
        f'ds.plots.figure("panels", runs[7], {_CIRCUIT})',
        "More clusters than multisets.",
    ),
    Entry(
        "paper-04",
        "Figure 4: a fuzzy construction",
        f'ds.plots.figure("panels", runs[13], {_CIRCUIT})',
    ),
    Entry(
        "paper-05",
        "Figure 5: attention at the start and at the end",
        'ds.plots.figure("attention", runs[7])',
    ),
    Entry(
        "paper-08",
        "Figure 8: two phases",
        'ds.plots.figure("phases", runs[7])',
        "Snapshots at the epochs that the run's own analysis finds.",
    ),
    Entry(
        "paper-09",
        "Figure 9: escaping saddle points",
        """\
full = ds.Config().replace({"training.batch": 2048, "training.epochs": 2000})
ds.plots.figure("gradients", ds.train(full, seeds=[22]))""",
        "Full batch. Shaded: drops of the loss.",
    ),
    Entry(
        "paper-10",
        "Figure 10: normalisation near the origin",
        """\
before = ds.plots.view(runs[6], 577)
shown = "embeddings,normalized,sequence,sequence_normalized"
ds.plots.figure("panels", before, before.at(578), panels=shown, same_axes=True)""",
        "A small step of a short vector is a large one after the norm.",
    ),
    Entry(
        "paper-11",
        "Figure 11: embeddings near a decision boundary",
        'ds.plots.figure("spike", (runs[3], 890))',
    ),
    Entry(
        "paper-12",
        "Figure 12: heavy assemblers",
        """\
from matplotlib.figure import Figure

axes = Figure(figsize=(6, 2)).subplots(1, 3)
before = ds.plots.view(runs[3], 889)
for panel, ax in zip((ds.plots.sequence, ds.plots.assemblers, ds.plots.feed_forward), axes):
    panel(before.at(890), ax, before=before)
axes[0]""",
        "A small change of the sequence embeddings, a large one of what the feed-forward adds.",
    ),
    Entry(
        "paper-13",
        "Figure 13: spikes and gradient norms",
        'ds.plots.figure("gradients", runs[15])',
        "Mini-batches. Triangles: spikes of the loss.",
    ),
    Entry(
        "paper-15",
        "Figure 15: a circuit is transferred",
        f"""\
three = run.config.replace({{"task.vocab": 3}})
(tuned,) = ds.train(three, seeds=[15], start=run)
ds.plots.figure("panels", tuned, epochs=[0, 1000], {_CIRCUIT})""",
        "Trained with two tokens, then with three: the new row of E begins at random.",
    ),
)


def layouts() -> Iterator[Entry]:
    for name, about in LAYOUTS.items():
        yield Entry(f"layout-{name}", name, LAYOUT_CODE[name], f"{about[0].upper()}{about[1:]}.")


def entries() -> list[Entry]:
    return [*panels(), *MORE, MANY, *layouts(), *PAPER]


@cache
def _namespace() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(RUNS, names)
    return names


def drawn(entry: Entry) -> Any:
    """What the last line of the code gives."""
    *first, last = ast.parse(entry.code).body
    assert isinstance(last, ast.Expr)
    names = dict(_namespace())
    exec(compile(ast.Module(first, []), entry.name, "exec"), names)
    made = eval(compile(ast.Expression(last.value), entry.name, "eval"), names)
    return made.figure if isinstance(made, Axes) else made


def save(entry: Entry) -> None:
    file = BytesIO()
    drawn(entry).savefig(file, format="png", dpi=_DOTS, bbox_inches=None)
    Image.open(file).convert("RGB").save(FOLDER / f"{entry.name}.png", optimize=True)


_HEAD = """\
# Gallery

One picture for every panel and every layout, with the line that makes it, and figures of the paper
from our own runs. [Figures](figures.md) says how they work. All are drawn by
[figures/gallery.py](figures/gallery.py), with these runs:
"""


def page() -> str:
    """The text of docs/gallery.md."""
    parts = [
        _HEAD,
        f"<!-- not run: docs/figures/gallery.py runs it -->\n```python\n{RUNS}```\n",
        "## Panels\n",
        *_table([*panels(), *MORE]),
        "## Many runs\n",
        _large(MANY),
        "## Layouts\n",
        *(_large(each) for each in layouts()),
        "## Figures of the paper\n",
        *(_large(each) for each in PAPER),
    ]
    return "\n".join(parts).replace("\n\n\n", "\n\n")


def _picture(entry: Entry, width: str) -> str:
    return f'<img src="figures/gallery/{entry.name}.png" alt="{entry.title}" width="{width}">'


def _table(of: list[Entry]) -> Iterator[str]:
    yield "| | |\n|---|---|"
    for left, right in zip(of[::2], [*of[1::2], None][: len(of[::2])], strict=True):
        cells = [each for each in (left, right) if each is not None]
        yield (
            "| "
            + " | ".join(f"{_picture(each, '300')}<br>`{each.code}`" for each in cells)
            + (" |" if len(cells) == 2 else " | |")
        )
    yield ""


def _large(entry: Entry) -> str:
    code = f"<!-- not run: docs/figures/gallery.py runs it -->\n```python\n{entry.code}\n```\n"
    text = f"{entry.text}\n\n" if entry.text else ""
    return f"### {entry.title}\n\n{text}{code}\n{_picture(entry, '100%')}\n"


def main() -> None:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    FOLDER.mkdir(exist_ok=True)
    for entry in entries():
        if wanted in entry.name:
            save(entry)
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

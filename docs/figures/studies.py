"""Write docs/studies: a page for each study, one with all claims, one with the time that it took,
the pictures and the raw claims.

    dynascope study all --scale paper --out FOLDER
    python docs/figures/studies.py FOLDER

Needs the extra `plots`. Every number and every verdict on the pages comes from the runs in FOLDER.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import cast

from PIL import Image

from dynascope.number_text import percent
from dynascope.progress import clock
from dynascope.studies.claims import VERDICTS, Judged, Judgement
from dynascope.studies.report_words import (
    confidence,
    interval,
    method_of,
    number,
    of_many,
    rule,
    sign,
)
from dynascope.studies.results import StudyResult, StudyResults
from dynascope.studies.study_folder import StudyFolder, read_about
from dynascope.studies.study_function import read_results
from dynascope.studies.timings import Timings

PAGES = Path(__file__).parents[1] / "studies"
_DOTS = 130  # per inch
_SHORT = 30.0  # seconds: sources that took less are told together


def main() -> None:
    folder = Path(sys.argv[1])
    about = read_about(folder)
    if about is None:
        sys.exit(f"{folder} holds no studies")
    names, scale = cast(list[str], about["studies"]), str(about["scale"])
    results = read_results(StudyFolder(folder, names, scale))
    PAGES.mkdir(exist_ok=True)
    (PAGES / "claims.json").write_text(results.to_json(), encoding="utf-8")
    for each in results:
        for figure in each.study.figures:
            draw(each, figure.name)
        write(each.name, page(each))
    write("claims", all_claims(results))
    write("times", times(results, Timings(folder).seconds))


def write(name: str, lines: Iterable[str]) -> None:
    (PAGES / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def draw(found: StudyResult, name: str) -> None:
    """A picture with few colours: a fifth of the size, and nobody sees it."""
    bitmap = BytesIO()
    found.figure(name).savefig(bitmap, format="png", dpi=_DOTS)
    image = Image.open(bitmap).convert("RGB").quantize(128, dither=Image.Dither.NONE)
    image.save(PAGES / f"{found.name}-{name}.png", optimize=True)


def page(found: StudyResult) -> Iterator[str]:
    study = found.study
    yield f"# The study {study.name}"
    yield ""
    yield f"{study.question} ({sentence(study.place)}"[:-1] + ".)"
    yield ""
    again = f"`dynascope study {study.name} --scale {found.scale}`"
    yield (
        f"Scale {found.scale}: {runs_in(found):,} runs. {again} makes this page's numbers again. "
        "[All claims](claims.md); [how a claim is judged](../studies.md#how-a-claim-is-judged)."
    )
    yield ""
    yield from table("claim", "verdict")
    for claim in found.judgements:
        yield row(sentence(claim.claim.says), told_verdict(claim.verdict))
    for each in study.figures:
        yield ""
        yield f"![{each.caption}]({study.name}-{each.name}.png)"
        yield ""
        yield f"*{each.caption}*"
    if study.notes:
        yield ""
        yield "## What the paper leaves open, and what was tried"
        for note in study.notes:
            yield ""
            yield note
    yield ""
    yield "## Claim by claim"
    for claim in found.judgements:
        yield ""
        yield from in_detail(claim)


def in_detail(found: Judgement) -> Iterator[str]:
    claim = found.claim
    yield f"### {claim.name[0].upper()}{claim.name[1:]}: {found.verdict}"
    yield ""
    yield f"*{sentence(claim.place)}* {sentence(claim.says)}"
    yield ""
    yield f"Counted: {claim.counted}. {rule(claim, method_of(found.measures))}"
    yield ""
    yield from table("condition", "measured", "interval", "runs", "verdict")
    for one in found.measures:
        yield row(
            one.condition or "all",
            number(one.value, one.method),
            f"{interval(one.interval, one.method)} ({confidence(one.error)}, {one.method})",
            f"{one.runs:,}",
            told_verdict(one.verdict),
        )


def all_claims(results: StudyResults) -> Iterator[str]:
    verdicts = Counter(claim.verdict for each in results for claim in each.judgements)
    counts = (f"{verdicts[each]} {of_many(each)}" for each in VERDICTS)
    yield "# Every claim"
    yield ""
    yield (
        f"{sum(verdicts.values())} claims, of the paper and some of our own, at scale "
        f"{results.scale}: {', '.join(counts)}. "
        "[How a claim is judged](../studies.md#how-a-claim-is-judged); the numbers are also in "
        "[claims.json](claims.json)."
    )
    for each in results:
        yield ""
        yield f"## [{each.name[0].upper()}{each.name[1:]}]({each.name}.md)"
        yield ""
        yield from table("claim", "measured, with its interval", "runs", "verdict")
        for claim in each.judgements:
            runs = max(one.runs for one in claim.measures)
            measured = "<br>".join(map(line, claim.measures))
            yield row(
                sentence(claim.claim.says), measured, f"{runs:,}", told_verdict(claim.verdict)
            )


def times(results: StudyResults, seconds: dict[str, float]) -> Iterator[str]:
    whole = sum(seconds.values())
    runs = {name: len(table) for each in results for name, table in each.tables.items()}
    used = {name: [r.name for r in results if name in r.tables] for name in runs}
    yield "# How long the studies took"
    yield ""
    yield (
        f"At scale {results.scale}, in all: {clock(whole)} on two cores, analyses and report "
        "included. Studies that look at the same runs share them."
    )
    yield ""
    yield from table("source of runs", "runs", "time", "share", "for the studies")
    short = {name for name, took in seconds.items() if took < _SHORT}
    for name, took in sorted(seconds.items(), key=lambda each: -each[1]):
        if name not in short:
            count = f"{runs[name]:,}" if name in runs else ""
            yield row(
                name, count, clock(took), percent(took / whole), ", ".join(used.get(name, []))
            )
    rest = sum(seconds[name] for name in short)
    yield row("all others", "", clock(rest), percent(rest / whole), "")


def runs_in(found: StudyResult) -> int:
    return sum(len(each) for each in found.tables.values() if "seed" in each)


def line(one: Judged) -> str:
    what = f"{one.condition}: " if one.condition else ""
    return f"{what}{number(one.value, one.method)} ({interval(one.interval, one.method)})"


def told_verdict(verdict: str) -> str:
    return f"{sign(verdict)} {verdict}"


def table(*heads: str) -> Iterator[str]:
    yield row(*heads)
    yield row(*("---" for _ in heads))


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def sentence(text: str) -> str:
    """
    >>> sentence("(ours) a cure costs no success")
    '(Ours) a cure costs no success.'
    """
    place = next(i for i, letter in enumerate(text) if letter.isalpha())
    return f"{text[:place]}{text[place].upper()}{text[place + 1 :]}."


if __name__ == "__main__":
    main()

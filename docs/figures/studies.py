"""Write docs/studies: a page for each study, one with all claims, the pictures and the raw claims.

    dynascope study all --scale paper --out FOLDER
    python docs/figures/studies.py FOLDER

Needs the extra `plots`. Every number and every verdict on the pages comes from the runs in FOLDER.
"""

import math
import sys
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from PIL import Image

from dynascope.number_text import percent
from dynascope.studies.claims import VERDICTS, Judged, Judgement
from dynascope.studies.results import StudyResult, StudyResults
from dynascope.studies.study_folder import StudyFolder, read_about
from dynascope.studies.study_function import read_results

PAGES = Path(__file__).parents[1] / "studies"
_DOTS = 130  # per inch


def main() -> None:
    folder = Path(sys.argv[1])
    about = read_about(folder)
    if about is None:
        sys.exit(f"{folder} holds no studies")
    results = read_results(StudyFolder(folder, list(about["studies"]), str(about["scale"])))  # type: ignore[call-overload]
    PAGES.mkdir(exist_ok=True)
    (PAGES / "claims.json").write_text(results.to_json(), encoding="utf-8")
    for each in results:
        for figure in each.study.figures:
            draw(each, figure.name)
        (PAGES / f"{each.name}.md").write_text("\n".join(page(each)) + "\n", encoding="utf-8")
    (PAGES / "claims.md").write_text("\n".join(all_claims(results)) + "\n", encoding="utf-8")


def draw(found: StudyResult, name: str) -> None:
    """A picture with few colours: a fifth of the size, and nobody sees it."""
    bitmap = BytesIO()
    found.figure(name).savefig(bitmap, format="png", dpi=_DOTS)
    image = Image.open(bitmap).convert("RGB").quantize(128, dither=Image.Dither.NONE)
    image.save(PAGES / f"{found.name}-{name}.png", optimize=True)


def page(found: StudyResult) -> Iterator[str]:
    study = found.study
    yield f"# {study.name.capitalize()}"
    yield ""
    yield f"{study.question} ({study.place[0].upper()}{study.place[1:]}.)"
    yield ""
    runs = sum(len(table) for table in found.tables.values() if "seed" in table)
    again = f"`dynascope study {study.name} --scale {found.scale}`"
    yield f"Scale {found.scale}: {runs:,} runs. {again} makes this again."
    for each in study.figures:
        yield ""
        yield f"![{each.caption}]({study.name}-{each.name}.png)"
        yield ""
        yield f"*{each.caption}*"
    yield ""
    yield "## Claims"
    for claim in found.judgements:
        yield ""
        yield from told(claim)
    if study.notes:
        yield ""
        yield "## What the paper leaves open"
        for note in study.notes:
            yield ""
            yield note


def told(found: Judgement) -> Iterator[str]:
    claim = found.claim
    yield f"### {claim.name}: {found.verdict}"
    yield ""
    yield f"*{claim.place}*: {claim.says}."
    yield ""
    yield f"Counted: {claim.counted}. It holds {claim.side} {claim.effect:g}."
    yield ""
    yield "| condition | measured | interval | runs | verdict |"
    yield "|---|---|---|---|---|"
    for one in found.measures:
        measured = f"{one.condition or '-'} | {number(one.value)} | {interval(one)}"
        yield f"| {measured} | {one.runs} | {one.verdict} |"


def all_claims(results: StudyResults) -> Iterator[str]:
    verdicts = Counter(claim.verdict for each in results for claim in each.judgements)
    yield "# Every claim"
    yield ""
    yield (
        f"{sum(verdicts.values())} claims, of the paper and some of our own, at scale "
        f"{results.scale}: "
        + ", ".join(f"{verdicts[each]} {each}" for each in VERDICTS)
        + ". How a claim is judged is said [here](../studies.md); the numbers are in "
        "[claims.json](claims.json)."
    )
    for each in results:
        yield ""
        yield f"## [{each.name.capitalize()}]({each.name}.md)"
        yield ""
        yield "| claim | measured | runs | verdict |"
        yield "|---|---|---|---|"
        for claim in each.judgements:
            measured = "<br>".join(line(one) for one in claim.measures)
            runs = max(one.runs for one in claim.measures)
            yield f"| {claim.claim.says} | {measured} | {runs} | {claim.verdict} |"


def line(one: Judged) -> str:
    return f"{one.condition + ': ' if one.condition else ''}{number(one.value)} {interval(one)}"


def interval(one: Judged) -> str:
    if not all(map(math.isfinite, one.interval)):
        return "(too few runs)"
    low, high = map(number, one.interval)
    return f"[{low}, {high}] at {percent(1 - one.error, places=1)}"


def number(value: float) -> str:
    """
    >>> number(0.03912), number(12345.6), number(float("nan"))
    ('0.0391', '12300', '-')
    """
    return "-" if math.isnan(value) else f"{float(f'{value:.3g}'):g}"


if __name__ == "__main__":
    main()

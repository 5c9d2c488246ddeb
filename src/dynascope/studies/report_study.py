"""A study in the report: its question, figures, claims in detail, and what it used."""

import base64
import gzip
from collections.abc import Sequence

import numpy as np

from dynascope.notebook.html_tags import Child, Html, tag
from dynascope.studies.claims import Judgement
from dynascope.studies.report_figures import DrawnFigure, slug
from dynascope.studies.report_words import (
    confidence,
    counted,
    interval,
    method_of,
    number,
    rule,
    sign,
    style_class,
)
from dynascope.studies.results import StudyResult
from dynascope.studies.study_folder import DATA, RUNS
from dynascope.studies.table import Table

_LARGE = 200_000  # bytes of CSV; more of it, such as the grid of a map, shrinks to an eighth


def study_section(result: StudyResult, figures: Sequence[DrawnFigure]) -> Html:
    study = result.study
    notes = [tag("h3", "Notes"), tag("ul", *(tag("li", each) for each in study.notes))]
    return tag(
        "section",
        tag("h2", study.name),
        tag("p", study.question, class_="lead"),
        tag("p", f"In the paper: {study.place}.", class_="place"),
        *map(_figure, figures),
        *(_claim(result.name, each) for each in result.judgements),
        *(notes if study.notes else []),
        tag("h3", "Runs"),
        _table(("Source", "Runs", "Seeds"), [_source(*each) for each in result.tables.items()]),
        id=result.name,
    )


def claim_id(study: str, claim: str) -> str:
    return f"{study}--{slug(claim)}"


def _figure(figure: DrawnFigure) -> Html:
    data, kind, name = figure.data.encode(), "text/csv;charset=utf-8", f"{figure.name}.csv"
    if len(data) > _LARGE:
        data, kind, name = gzip.compress(data, mtime=0), "application/gzip", f"{name}.gz"
    link = tag(
        "a",
        "Data as CSV" if len(figure.data) <= _LARGE else "Data as CSV (compressed)",
        href=f"data:{kind};base64,{base64.b64encode(data).decode()}",
        download=name,
        data_file=f"{DATA}/{figure.name}.csv",
    )
    caption = tag("figcaption", figure.caption, " ", tag("span", link, class_="file"))
    named = {"role": "region", "aria_label": figure.name, "tabindex": 0}  # keys can scroll it
    drawing = tag("div", Html(figure.element), class_="paper", **named)
    return tag("figure", drawing, caption, id=f"figure-{figure.name}")


# ---- claims -------------------------------------------------------------------------------------


def _claim(study: str, found: Judgement) -> Html:
    claim = found.claim
    method = method_of(found.measures)
    verdict = tag(
        "span",
        tag("span", sign(found.verdict), class_="sign", aria_hidden="true"),
        f" {found.verdict}",
        class_="verdict",
    )
    return tag(
        "article",
        tag("header", tag("h3", _sentence(claim.says)), verdict),
        tag("p", f"{_sentence(claim.place)}. Counted: {claim.counted}."),
        tag("p", rule(claim, method), class_="quiet"),
        _measures(found),
        id=claim_id(study, claim.name),
        class_=f"claim {style_class(found.verdict)}",
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _measures(found: Judgement) -> Html:
    named = any(each.condition for each in found.measures)
    head = ("Verdict", "Value", "Interval", "Level", "Runs", "Method")
    rows = [
        tag(
            "tr",
            *([tag("th", each.condition, scope="row")] if named else []),
            tag(
                "td",
                tag("span", sign(each.verdict), class_="sign", aria_hidden="true"),
                f" {each.verdict}",
                class_=f"verdict {style_class(each.verdict)}",
            ),
            tag("td", number(each.value, each.method)),
            tag("td", interval(each.interval, each.method)),
            tag("td", confidence(each.error)),
            tag("td", f"{each.runs:,}"),
            tag("td", each.method),
        )
        for each in found.measures
    ]
    return _table(("Condition", *head) if named else head, rows)


# ---- runs ---------------------------------------------------------------------------------------


def _source(name: str, table: Table) -> Html:
    if table.runs is None:
        cells: list[Child] = [name, "computed, without runs", ""]
    else:
        cells = [tag("a", name, href=f"{RUNS}/{name}/"), f"{len(table):,}", _seeds(table)]
    return tag("tr", tag("th", cells[0], scope="row"), *(tag("td", each) for each in cells[1:]))


def _seeds(table: Table) -> str:
    """The seeds of a source, which has them in one row.

    >>> _seeds(Table({"seed": np.array([4.0, 5.0, 4.0])}))
    '4 to 5 (2 seeds)'
    """
    seeds = np.unique(table["seed"]).astype(int) if len(table) else np.array([], int)
    if not len(seeds):
        return "none"
    return f"{seeds[0]} to {seeds[-1]} ({counted(len(seeds), 'seed')})"


def _table(head: Sequence[str], rows: Sequence[Html]) -> Html:
    cells = (tag("th", each, scope="col") for each in head)
    table = tag("table", tag("thead", tag("tr", *cells)), tag("tbody", *rows))
    return tag("div", table, class_="scroll")

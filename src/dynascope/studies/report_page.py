"""The report as one page that asks nobody for anything: summary, table of claims, studies.

Everything in it is text that was escaped, SVG that `figure_svg` made, or our own style and script.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from dynascope.notebook.html_tags import Child, Html, joined, tag
from dynascope.offline_page import hash_of, offline_page, policy_of
from dynascope.studies.claims import VERDICTS, Judged, Judgement
from dynascope.studies.report_figures import DrawnFigure
from dynascope.studies.report_study import claim_id, study_section
from dynascope.studies.report_words import counted, interval, number, of_many, sign, style_class
from dynascope.studies.results import StudyResult, StudyResults
from dynascope.studies.sources import QUICK
from dynascope.theme import theme
from dynascope.version import __version__

_HERE = Path(__file__).parent
_COLOURS = (
    *("page", "panel", "raised", "border", "ink", "quiet"),
    *("accent", "focus", "good", "warning", "bad"),
)
_MOST_CONDITIONS = 4  # of a claim that the table of all tells
_TITLE = "The paper's claims, counted"


def report_page(results: StudyResults, figures: Sequence[DrawnFigure]) -> str:
    body = joined(
        [
            _contents(results),
            tag("main", _heading(results), _all_claims(results), *_sections(results, figures)),
        ]
    )
    whole = f'<div class="page">{body}</div>\n{_BOX}'
    return offline_page(_TITLE, policy(), _style(), whole, _script())


def policy() -> tuple[str, ...]:
    """What the page may do: our style, our script, pictures that are part of it. (Drawings carry
    styles of their own.)"""
    return policy_of(hash_of(_script()), "'unsafe-inline'", "img-src data:")


@cache
def _script() -> str:
    return (_HERE / "report.js").read_text(encoding="utf-8")


@cache
def _style() -> str:
    def variables(scheme: str) -> str:
        return "".join(f"--{name}:{theme()[scheme][name]};" for name in _COLOURS)

    fonts = f"--font:{theme()['fonts']['text']};--mono:{theme()['fonts']['mono']};"
    # Paper is light, whatever the screen is.
    dark = f"@media screen and (prefers-color-scheme:dark){{:root{{{variables('dark')}}}}}"
    rules = (_HERE / "report.css").read_text(encoding="utf-8")
    return f":root{{{fonts}{variables('light')}}}{dark}\n{rules}"


def verdict_mark(verdict: str) -> Html:
    return tag("span", sign(verdict), class_=f"sign {style_class(verdict)}", aria_hidden="true")


def _contents(results: StudyResults) -> Html:
    entries = [tag("li", tag("a", "All claims", href="#claims"))]
    for result in results:
        marks = tag("span", *(verdict_mark(each.verdict) for each in result.judgements))
        entries.append(tag("li", tag("a", tag("span", result.name), marks, href=f"#{result.name}")))
    return tag("nav", tag("strong", "Contents"), tag("ol", *entries), aria_label="Contents")


# ---- the beginning ------------------------------------------------------------------------------


def _heading(results: StudyResults) -> Html:
    judged = [each.verdict for result in results for each in result.judgements]
    runs = sum({n: len(t) for r in results for n, t in r.tables.items() if t.runs}.values())
    about = (
        f"{counted(len(results), 'study').replace('studys', 'studies')}, "
        f"{counted(len(judged), 'claim')}, {counted(runs, 'run')}; scale {results.scale}, "
        f"dynascope {__version__}."
    )
    return joined(
        [
            tag("h1", _TITLE),
            tag("p", about, class_="lead"),
            *([_REHEARSAL] if results.scale == QUICK else []),
            tag("div", *(_count(word, judged.count(word)) for word in VERDICTS), class_="counts"),
            _HOW,
        ]
    )


def _count(verdict: str, count: int) -> Html:
    return tag(
        "div",
        tag("b", f"{count:,}"),
        tag("span", verdict_mark(verdict), " ", of_many(verdict), class_="verdict"),
        class_=f"count {style_class(verdict)}",
    )


_REHEARSAL = tag(
    "div",
    tag(
        "p",
        tag("strong", "This is a rehearsal. "),
        "At scale quick there are fewer seeds, and they are others than those on which claims are "
        "judged: verdicts can change at scale paper, which is the one to quote.",
    ),
    class_="rehearsal",
)
_HOW = tag(
    "details",
    tag("summary", "How a claim is judged"),
    tag(
        "p",
        "Before any run, a claim names what is counted, the smallest effect that matters and the "
        "side on which the number should lie. It holds if the whole interval lies beyond that "
        "effect, and does not hold if the whole interval lies on the other side. A claim of "
        "several conditions, listed beforehand, holds in part if some of them hold and others do "
        "not. Everything else is not decidable here: more runs might tell.",
    ),
    tag(
        "p",
        "Intervals are wider than 95% where a study has several claims: by Holm's correction, the "
        "chance that any verdict of a study is wrong by accident is at most 5%. The seeds were "
        "reserved before: no threshold and no method was chosen on them.",
    ),
)


# ---- the table of all claims --------------------------------------------------------------------


def _all_claims(results: StudyResults) -> Html:
    head = ("Study", "What is claimed", "Measured", "Runs", "Verdict")
    rows = [_row(result, each) for result in results for each in result.judgements]
    table = tag(
        "table",
        tag("thead", tag("tr", *(tag("th", each, scope="col") for each in head))),
        tag("tbody", *rows),
    )
    return tag(
        "section",
        tag("h2", "All claims"),
        tag("div", table, class_="scroll all", tabindex=0, role="region", aria_label="All claims"),
        id="claims",
    )


def _row(result: StudyResult, found: Judgement) -> Html:
    claim = found.claim
    told = [_measured(each) for each in found.measures[:_MOST_CONDITIONS]]
    link = f"#{claim_id(result.name, claim.name)}"
    if more := len(found.measures) - len(told):
        told.append(tag("a", f"and {counted(more, 'more condition')}", href=link, class_="line"))
    return tag(
        "tr",
        tag("th", tag("a", result.name, href=f"#{result.name}"), scope="row"),
        tag(
            "td",
            tag("a", claim.says, href=link, class_="line"),
            tag("span", claim.place, class_="place"),
            class_="says",
        ),
        tag("td", *told, class_="measured"),
        tag("td", f"{max(each.runs for each in found.measures):,}", class_="number"),
        tag("td", verdict_mark(found.verdict), " ", found.verdict, class_="verdict"),
        class_=style_class(found.verdict),
    )


def _measured(one: Judged) -> Html:
    mark: list[Child] = []
    if one.condition:
        mark = [verdict_mark(one.verdict), tag("span", f" {one.condition}: ", class_="condition")]
    return tag(
        "span",
        *mark,
        tag("span", number(one.value, one.method), class_="value"),
        tag("span", f" ({interval(one.interval, one.method)})", class_="interval"),
        class_="line",
    )


def _sections(results: StudyResults, figures: Sequence[DrawnFigure]) -> list[Html]:
    return [
        study_section(result, [each for each in figures if each.study == result.name])
        for result in results
    ]


_BOX = """\
<div id="run-box" role="dialog" aria-labelledby="run-title" hidden>
<h2 id="run-title"></h2>
<p>This command opens the run in the sandbox. In a page that <code>dynascope show</code> serves, a
click opens it at once.</p>
<code class="command"></code>
<div><button class="copy">Copy</button><button class="close">Close</button></div>
</div>"""

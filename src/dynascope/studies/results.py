"""What studies found: tables, verdicts, figures; and the claims as plain values."""

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dynascope.errors import did_you_mean, expected
from dynascope.plain import plain
from dynascope.studies.claims import VERDICTS, Judgement, judge
from dynascope.studies.study import Study
from dynascope.studies.study_folder import REPORT
from dynascope.studies.table import Tables

if TYPE_CHECKING:
    import pandas

    from dynascope.plots import PublicationFigure


class StudyResult:
    """One study at one scale: `tables` by source, `judgements` of its claims, its figures."""

    def __init__(self, study: Study, scale: str, tables: Tables) -> None:
        self.study, self.scale = study, scale
        self.tables = {source.name: tables[source.name] for source in study.sources}

    @property
    def name(self) -> str:
        return self.study.name

    @cached_property
    def judgements(self) -> list[Judgement]:
        """Every claim with what was measured and its verdict."""
        return judge(self.study.claims, self.tables)

    def figure(self, name: str) -> "PublicationFigure":
        """A figure by its name, drawn now; `numbers()` of it is its data as CSV."""
        for each in self.study.figures:
            if each.name == name:
                return each.draw(self.tables)
        names = [each.name for each in self.study.figures]
        raise expected("figure", " or ".join(names), name, did_you_mean(name, names))

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the study and its claims."""
        return {
            "study": self.name,
            "question": self.study.question,
            "of_the_paper": self.study.place,
            "runs": {name: len(table) for name, table in self.tables.items()},
            "claims": [_claim_to_dict(each) for each in self.judgements],
        }

    def __repr__(self) -> str:
        counts = {word: self._verdicts().count(word) for word in VERDICTS}
        told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        return f"StudyResult({self.name}, scale={self.scale}: {told or 'no claims'})"

    def _verdicts(self) -> list[str]:
        return [each.verdict for each in self.judgements]


class StudyResults(Sequence[StudyResult]):
    """Results of studies, by place or by name; `report` is their page."""

    def __init__(self, results: Sequence[StudyResult], scale: str, folder: Path) -> None:
        self._results, self.scale, self.folder = list(results), scale, folder

    @property
    def report(self) -> Path:
        """The page that tells all of it."""
        return self.folder / REPORT

    def __len__(self) -> int:
        return len(self._results)

    def __getitem__(self, which: Any) -> Any:
        if not isinstance(which, str):
            return self._results[which]
        names = [each.name for each in self._results]
        if which not in names:
            raise expected("study", " or ".join(names), which, did_you_mean(which, names))
        return self._results[names.index(which)]

    def __iter__(self) -> Iterator[StudyResult]:
        return iter(self._results)

    def to_dict(self) -> dict[str, Any]:
        """Plain values: every claim of every study, as claims.json has them."""
        return {"scale": self.scale, "studies": [each.to_dict() for each in self]}

    def to_json(self) -> str:
        return json.dumps(plain(self.to_dict()), indent=1, ensure_ascii=False) + "\n"

    def frame(self) -> "pandas.DataFrame":
        """The claims as a pandas frame, a row for each condition."""
        import pandas

        rows = [
            {
                **{"study": each["study"], "claim": claim["name"], "verdict": claim["verdict"]},
                **{f"condition_{k}" if k == "verdict" else k: v for k, v in measure.items()},
            }
            for each in self.to_dict()["studies"]
            for claim in each["claims"]
            for measure in claim["measures"]
        ]
        return pandas.DataFrame(rows)

    def __repr__(self) -> str:
        return "\n".join(map(repr, self)) or "StudyResults()"


def _claim_to_dict(found: Judgement) -> dict[str, Any]:
    claim = found.claim
    return {
        "name": claim.name,
        "says": claim.says,
        "place": claim.place,
        "counted": claim.counted,
        "effect": claim.effect,
        "side": claim.side,
        "verdict": found.verdict,
        "measures": [
            {
                "condition": one.condition,
                "value": one.value,
                "low": one.interval[0],
                "high": one.interval[1],
                "error": one.error,
                "runs": one.runs,
                "method": one.method,
                "verdict": one.verdict,
            }
            for one in found.measures
        ],
    }

"""How a run's attention changed: its map, and the tokens and positions that it prefers."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from dynascope.analysis.attention_change import AttentionAt, AttentionChange, attention
from dynascope.findings.kind import Cells, Kind, Listing, RunRow, RunRows, Totals
from dynascope.findings.medians import cell, medians, medians_text, number
from dynascope.findings.words import counted
from dynascope.number_text import fraction, percent
from dynascope.plain import plain
from dynascope.run import Run

_SIMILAR = ("attention_similarity", "attention_similarity_others")
_RELEVANT = ("relevant_attention_start", "relevant_attention_end")


def _of_moment(at: AttentionAt, moment: str) -> dict[str, Any]:
    return {
        f"relevant_attention_{moment}": at.relevant,
        f"attention_by_token_{moment}": at.by_token,
        f"preferred_token_{moment}": at.preferred,
        f"token_preference_{moment}": at.preference,
    }


def _similar(row: RunRow) -> str:
    return number(row["attention_similarity"])


def _relevant(row: RunRow) -> str:
    return " ".join(percent(row[name], places=0) for name in _RELEVANT)


def _preferred(row: RunRow) -> str:
    told = (row[f"preferred_token_{moment}"] for moment in ("start", "end"))
    return " ".join("-" if token is None else str(token) for token in told)


def _look(at: AttentionAt) -> str:
    positions = "" if at.relevant is None else f"{percent(at.relevant)} on relevant positions; "
    by_token = ", ".join(f"{token}: {fraction(part)}" for token, part in enumerate(at.by_token))
    which = "a position" if at.relevant is None else "a relevant position"
    return f"after epoch {at.epoch}: {positions}attention on {which} with token {by_token}"


class AttentionKind(Kind[AttentionChange]):
    title = "Attention from the start to epoch {epoch}"
    of_epoch = True
    parts = ("attention",)

    def make(self, run: Run, epoch: int = -1) -> AttentionChange:
        return attention(run, epoch)

    def row(self, found: AttentionChange) -> dict[str, Any]:
        by_token = {
            **_of_moment(found.start, "start"),
            **_of_moment(found.end, "end"),
        }
        names = ("relevant_attention", "attention_by_token", "preferred_token", "token_preference")
        alike = found.similarity
        return {
            "attention_similarity": alike.rank_correlation,
            "attention_similarity_others": alike.chance_rank_correlation,
            "attention_similarity_p": alike.p_value,
            **{f"{n}_{moment}": by_token[f"{n}_{moment}"] for n in names for moment in _MOMENTS},
        }

    def note(self, found: AttentionChange) -> str | None:
        told = []
        if found.end.relevant is None:
            told.append("relevant positions are not known, so all of them are looked at")
        if found.similarity.p_value is None:
            told.append("a map that is the same everywhere has no ranks to compare")
        return ", and ".join(told) or None

    def text(self, found: AttentionChange) -> Iterator[str | Listing]:
        alike = found.similarity
        yield (
            "rank correlation of the attention map with that at the start: "
            f"{number(plain(alike.rank_correlation))}; with the start of other seeds: "
            f"{number(alike.chance_rank_correlation)} (p = {number(alike.p_value)})"
        )
        yield _look(found.start)
        yield _look(found.end)

    def json(self, found: AttentionChange) -> dict[str, Any]:
        alike = found.similarity
        chance = {
            "chance_rank_correlation": alike.chance_rank_correlation,
            "p_value": alike.p_value,
        }
        return {"attention": {**plain(found), "similarity": {**plain(alike), **chance}}}

    # ---- many runs

    cells = (
        Cells("map kept", 5, _similar, True, "rank correlation of attention at start and end"),
        Cells("relevant", 6, _relevant, True, "attention on relevant positions at start and end"),
        Cells("prefers", 7, _preferred, True, "token with the most attention at start and end"),
    )
    brief = cells[0]

    def totals(self, rows: RunRows) -> Totals:
        preferred = Counter(
            str(row["preferred_token_end"])
            for row in rows
            if row["preferred_token_end"] is not None
        )
        return {
            **medians(rows, dict.fromkeys((*_SIMILAR, *_RELEVANT), cell)),
            "preferred_token_end": dict(preferred.most_common()),
        }

    def totals_text(self, totals: Totals) -> Iterator[str]:
        kept, others = (totals[name] for name in _SIMILAR)
        yield from medians_text("attention maps at start and end, rank correlation", kept)
        yield from medians_text("... with the start of other seeds", others)
        for name, moment in zip(_RELEVANT, _MOMENTS, strict=True):
            what = f"attention on relevant positions at the {moment}"
            yield from medians_text(what, totals[name], percent)
        if preferred := totals["preferred_token_end"]:
            runs = {f"prefer token {token}": count for token, count in preferred.items()}
            yield f"at the end, {counted(runs)}"


_MOMENTS = ("start", "end")
KIND = AttentionKind()

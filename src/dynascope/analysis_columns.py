"""What analyses find of a run as columns: which kinds there are, versions, types, meanings.

Only what the store must know to keep and read them. How a kind is made and told is in
`findings/kind_NAME.py`: a new one is such a file and an entry here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from dynascope.errors import did_you_mean, expected


class Column(NamedTuple):
    """One value of each run."""

    type: str  # Arrow's, by name
    meaning: str
    always: bool = False  # in tables of runs also where all runs agree in it
    share: bool = False  # from 0 to 1, and told as such


@dataclass(frozen=True)
class Declaration:
    """One kind of analysis.

    `version` is raised by any change of what a column means or how it is measured, thresholds
    included: rows of another version do not count and are made again.
    """

    version: int
    columns: dict[str, Column]


DECLARATIONS = {
    "circuit": Declaration(
        version=1,
        columns={
            "verdict": Column("string", "ideal, value-corrected, partial, fuzzy or unsolved", True),
            "verdict_margin": Column(
                "double", "how far the measure that decides is from its threshold"
            ),
            "exact_accuracy": Column(
                "double",
                "accuracy on all sequences (or a large sample), trained on or not",
                share=True,
            ),
            "between_share": Column(
                "double", "share of the sequence embedding's variance between multisets", share=True
            ),
            "permutation_share": Column(
                "double", "share between the orderings of a multiset", share=True
            ),
            "suffix_share": Column(
                "double", "share between irrelevant tokens; the three sum to 1", share=True
            ),
            "permutation_survival": Column(
                "double", "how often the prediction survives a permutation", share=True
            ),
            "suffix_survival": Column(
                "double", "how often it survives a redraw of the irrelevant tokens", share=True
            ),
            "relevant_attention": Column(
                "double", "attention on the relevant positions together", share=True
            ),
            "clusters": Column("int64", "clusters of sequence embeddings"),
            "expected_clusters": Column("int64", "clusters of a perfect circuit"),
            "culprits": Column(
                "list<int64>", "positions that break an invariance, the worst first"
            ),
            "alias_weights": Column(
                "list<int64>", "weights of the sum that explains the embedding best"
            ),
            "alias_share": Column("double", "share of the variance that it explains", share=True),
            "alias_holds": Column("bool", "whether that sum explains nearly everything"),
        },
    ),
    "phases": Declaration(
        version=1,
        columns={
            "drops": Column(
                "list<int64>", "epochs at which the train loss drops, by its slope", True
            ),
            "drops_agree": Column("bool", "whether change points give the same epochs"),
            "clustered_epoch": Column(
                "int64", "when `between_share` is halfway through its rise; null: it did not rise"
            ),
            "fitted_epoch": Column("int64", "when the accuracy is halfway through its rise"),
            "lead": Column("int64", "`fitted_epoch` minus `clustered_epoch`", True),
        },
    ),
    "spikes": Declaration(
        version=2,
        columns={
            "spikes": Column("int64", "number of spikes of the train loss", True),
            "spike_epochs": Column("list<int64>", "epoch at which each is highest", True),
            "spike_rises": Column("list<double>", "height of each over the recent median"),
            "spike_causes": Column("list<string>", "cause of each, or unexplained", True),
            "spike_confirmed": Column(
                "list<string>", "whether its cause is confirmed, not confirmed or not tested"
            ),
            "spike_small": Column("list<bool>", "whether it rises less than twofold"),
            "spike_sharpness": Column(
                "list<double>", "preconditioned sharpness before each, over its limit; may be null"
            ),
        },
    ),
}
KINDS = tuple(DECLARATIONS)


def columns_of(kinds: Iterable[str] = KINDS) -> dict[str, Column]:
    """The columns of these kinds, in order."""
    return {name: column for kind in kinds for name, column in DECLARATIONS[kind].columns.items()}


def versions() -> dict[str, int]:
    """The present version of each kind."""
    return {kind: declared.version for kind, declared in DECLARATIONS.items()}


def check_kinds(kinds: object, field: str = "kinds") -> tuple[str, ...]:
    """The kinds that were asked for, each once, in the order of `KINDS`.

    >>> check_kinds(["spikes", "circuit"]), check_kinds("phases")
    (('circuit', 'spikes'), ('phases',))
    >>> check_kinds("phase")
    Traceback (most recent call last):
    dynascope.errors.DynascopeError: kinds: expected circuit, phases or spikes, but got 'phase';
    did you mean 'phases'?
    """
    what = f"{', '.join(KINDS[:-1])} or {KINDS[-1]}"
    if not isinstance(kinds, str | Iterable) or isinstance(kinds, bytes | Mapping):
        raise expected(field, f"{what}, or a list of them", kinds)
    wanted = [kinds] if isinstance(kinds, str) else list(kinds)
    for kind in wanted:
        if kind not in KINDS:
            raise expected(field, what, kind, did_you_mean(kind, KINDS))
    return tuple(kind for kind in KINDS if kind in wanted)

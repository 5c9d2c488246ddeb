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
    later: bool = False  # younger than its kind: rows without it count too, and have null there
    holes: bool = False  # of lists: an element may be null


@dataclass(frozen=True)
class Declaration:
    """One kind of analysis.

    `version` is raised by any change of what a column means or how it is measured, thresholds
    included: rows of another version do not count and are made again. A column that is added
    changes none of the others, so it need not raise the version if it is marked as `later`.
    `by_default`: whether it is made where no kinds are named; what few people ask for is not.
    `function`: of the package, what finds it, where that is not `analysis.KIND`.
    `cost`: what it takes, as a share of what training the run took. Measured on 24 default runs;
    of spikes it is as much as there are many, of saddles and bounds it depends on the run.
    """

    version: int
    columns: dict[str, Column]
    cost: float
    by_default: bool = True
    function: str = ""


PARTS = ("token_embedding", "position_embedding", "query", "value", "feed_forward")
"""The parts of the model of which something is told besides the whole."""


def _of_parts(name: str, meaning: str, type_: str) -> dict[str, Column]:
    """A column of all weights, and one of each part of the model."""
    each = {f"{name}_{part}": Column(type_, f"the same of the part {part}") for part in PARTS}
    return {name: Column(type_, meaning), **each}


def _of_bound(prefix: str, which: str) -> dict[str, Column]:
    """How a bound on the gradient does along a run."""
    return {
        f"{prefix}_fails": Column("int64", f"at how many of them {which} is below the gradient"),
        f"{prefix}_over_gradient": Column("double", f"{which} over the gradient, the median"),
        f"{prefix}_least": Column("double", "the same, the least"),
    }


_BEFORE = "of runs analysed before there was `sum_kind`: "

DECLARATIONS = {
    "kept_sum": Declaration(
        version=1,
        cost=0.06,
        columns={
            "sum_kind": Column(
                "string",
                "the sum that the embedding keeps: plain, signed, folded, split, two, unexplained",
                True,
            ),
            "sum_formula": Column("string", "that sum, or the best one, written out"),
            "sum_weights": Column("list<int64>", "what a one adds at each position (two tokens)"),
            "sum_share": Column("double", "share of the variance between its values", share=True),
            "sum_corrected": Column(
                "double", "the same, corrected for the number of values; 0.98 is enough"
            ),
            "sum_values": Column("int64", "how many different values it has"),
            "sum_apart": Column("list<int64>", "positions kept apart, beside the sum"),
            "sum_by": Column("string", "of a plain sum: attentive or value-corrected"),
        },
    ),
    "circuit": Declaration(
        version=1,
        cost=0.04,
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
                "list<int64>", f"{_BEFORE}weights of the sum that explains the embedding best"
            ),
            "alias_share": Column(
                "double", f"{_BEFORE}share of the variance that it explains", share=True
            ),
            "alias_holds": Column("bool", f"{_BEFORE}whether it explains nearly everything"),
        },
    ),
    "phases": Declaration(
        version=1,
        cost=0.3,
        columns={
            "drops": Column(
                "list<int64>", "epochs at which the train loss drops, by its slope", True
            ),
            "drops_agree": Column("bool", "whether change points give the same epochs"),
            "drop_epochs": Column(
                "list<int64>",
                "epochs at which the train loss drops, between shelves",
                always=True,
                later=True,
            ),
            "drop_votes": Column(
                "list<int64>", "how many methods see each of `drop_epochs`, 1 to 3", later=True
            ),
            "clustered_epoch": Column(
                "int64", "when `between_share` is halfway through its rise; null: it did not rise"
            ),
            "fitted_epoch": Column("int64", "when the accuracy is halfway through its rise"),
            "lead": Column("int64", "`fitted_epoch` minus `clustered_epoch`", True),
        },
    ),
    "sum_progress": Declaration(
        version=1,
        cost=0.1,
        columns={
            "sum_half": Column(
                "int64", "when the share between values of the final sum was first halfway up"
            ),
            "sum_half_last": Column("int64", "from when on it stayed above"),
            "sum_nine_tenths": Column("int64", "when it was first nine tenths of the way up"),
            "sum_nine_tenths_last": Column("int64", "from when on it stayed above"),
            "accuracy_half": Column("int64", "when the accuracy was first halfway up"),
            "accuracy_half_last": Column("int64", "from when on it stayed above"),
            "accuracy_nine_tenths": Column("int64", "when it was first nine tenths up"),
            "accuracy_nine_tenths_last": Column("int64", "from when on it stayed above"),
            "sum_lead": Column("int64", "`accuracy_half` minus `sum_half`", True),
            "sum_leads": Column(
                "list<int64>",
                "the same with other heights of sum and accuracy: 0.5 and 0.5, 0.9 and 0.5, "
                "0.5 and 0.1, 0.9 and 0.1",
            ),
        },
    ),
    "spikes": Declaration(
        version=2,
        cost=1.0,
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
                "list<double>",
                "preconditioned sharpness before each, over its limit; may be null",
                holes=True,
            ),
        },
    ),
    "sparsity": Declaration(
        version=1,
        cost=0.02,
        by_default=False,
        columns={
            f"sparsity_{eps.replace('.', '_')}": Column(
                "double", f"share of hidden activations below {eps} in size", share=True
            )
            for eps in ("0.00001", "0.0001", "0.001", "0.01", "0.1", "1", "10", "100")
        },
    ),
    "attention": Declaration(
        version=1,
        cost=0.05,
        by_default=False,
        columns={
            "attention_similarity": Column(
                "double", "rank correlation of the attention maps at the start and at the end"
            ),
            "attention_similarity_others": Column(
                "double", "the same with the start maps of 19 other seeds, the mean of them"
            ),
            "attention_similarity_p": Column(
                "double", "share of these 20 starts that are at least as similar as the run's own"
            ),
            "relevant_attention_start": Column(
                "double", "attention on the relevant positions together, at the start", share=True
            ),
            "relevant_attention_end": Column("double", "the same at the end", share=True),
            "attention_by_token_start": Column(
                "list<double>", "attention on a relevant position with token 0, 1, ... at the start"
            ),
            "attention_by_token_end": Column("list<double>", "the same at the end"),
            "preferred_token_start": Column(
                "int64", "the token with most of it at the start; null: all have the same"
            ),
            "preferred_token_end": Column("int64", "the same at the end"),
            "token_preference_start": Column(
                "double", "its part of their sum at the start, from 1 / vocab to 1", share=True
            ),
            "token_preference_end": Column("double", "the same at the end", share=True),
        },
    ),
    "tandem": Declaration(
        version=1,
        cost=0.05,
        by_default=False,
        columns={
            "tandem_correlation": Column(
                "double", "rank correlation of the changes of loss and gradient norm"
            ),
            "tandem_lag": Column("int64", "epochs by which the norm follows the loss"),
            "tandem_at_spikes": Column(
                "bool", "whether these two are of epochs around spikes, or of the whole run"
            ),
            **_of_parts(
                "gradient_at_drops",
                "gradient norm in each drop over that around it",
                "list<double>",
            ),
            **_of_parts(
                "gradient_at_spikes", "gradient norm in each spike over that before", "list<double>"
            ),
        },
    ),
    "speed": Declaration(
        version=1,
        cost=0.01,
        by_default=False,
        columns={
            "speed_median": Column("double", "median movement of the weights per epoch"),
            **_of_parts(
                "speed_at_drops",
                "movement per epoch in each drop over that around it",
                "list<double>",
            ),
            "speed_resolution": Column("int64", "epochs between the weights that are compared"),
        },
    ),
    "travelled": Declaration(
        version=1,
        cost=0.01,
        by_default=False,
        columns={
            "embeddings_travelled": Column(
                "double", "distance of E and P from their start, over their length at the start"
            ),
            "embeddings_travelled_rotated": Column("double", "the same after the best rotation"),
            "tokens_travelled": Column("double", "the same of E alone"),
            "tokens_travelled_rotated": Column("double", "of E alone, after the best rotation"),
            "positions_travelled": Column("double", "the same of P alone"),
            "positions_travelled_rotated": Column("double", "of P alone, after the best rotation"),
        },
    ),
    "assemblers": Declaration(
        version=1,
        cost=0.01,
        by_default=False,
        columns={
            "heaviest_assembler": Column("int64", "the hidden unit whose assembler is longest"),
            "heaviest_assembler_ratio": Column("double", "its length over the median length"),
            "assembler_correlation": Column(
                "double", "mean cosine of two assemblers, weighted by the product of their lengths"
            ),
            "assembler_correlation_most": Column(
                "double", "largest product of two assemblers over the heaviest's with itself"
            ),
        },
    ),
    "step_over_length": Declaration(
        version=1,
        cost=0.01,
        by_default=False,
        columns={
            "step_over_length": Column(
                "double", "learning rate over the shortest vector that is normalised, at the end"
            ),
            "step_over_length_most": Column("double", "the largest such ratio of an epoch"),
            "step_over_length_most_epoch": Column("int64", "that epoch"),
            "unsafe_epochs": Column("int64", "epochs in which the ratio is 1 or more"),
            "shortest_embedding": Column("double", "length of the shortest E + P at the end"),
            "shortest_sequence": Column(
                "double", "length of the shortest sequence embedding at the end"
            ),
        },
    ),
    "saddles": Declaration(
        version=1,
        cost=1.0,
        by_default=False,
        function="theory.saddles",
        columns={
            "plateau_epochs": Column(
                "list<int64>", "of each plateau, the epoch of its least gradient"
            ),
            "plateau_verdicts": Column(
                "list<string>", "what it is there: fitted, slope, flat or minimum, or a saddle"
            ),
            "plateau_gradient_ratio": Column(
                "list<double>", "gradient norm there, over the largest in the drop that follows"
            ),
            "plateau_negative": Column(
                "list<int64>", "how many directions bend down there, in the optimizer's metric"
            ),
            "plateau_escape_five": Column(
                "list<double>",
                "share of the way to the end of the drop along the five lowest; null: no drop",
                holes=True,
            ),
            "plateau_escape_chance": Column(
                "list<double>", "what a random direction has of it on average", holes=True
            ),
            "plateau_exit_five": Column(
                "list<double>", "the same share of the way over the drop alone", holes=True
            ),
        },
    ),
    "bounds": Declaration(
        version=1,
        cost=1.0,
        by_default=False,
        function="theory.bounds_along",
        columns={
            "bounds_epochs": Column("int64", "epochs at which gradient and bounds were compared"),
            **_of_bound("paper_bound", "the paper's bound"),
            **_of_bound("bound", "the corrected bound"),
            **_of_bound("tight_bound", "the tight bound"),
            "closed_form_difference": Column(
                "double", "largest relative difference of closed forms and the kernel's gradient"
            ),
        },
    ),
}
KINDS = tuple(DECLARATIONS)
DEFAULT_KINDS = tuple(kind for kind, declared in DECLARATIONS.items() if declared.by_default)


ALL = "all"  # asks for every kind


def columns_of(kinds: Iterable[str] = KINDS) -> dict[str, Column]:
    """The columns of these kinds, in order."""
    return {name: column for kind in kinds for name, column in DECLARATIONS[kind].columns.items()}


def function_of(kind: str) -> str:
    """The function that finds it, by its place in the package.

    >>> function_of("circuit"), function_of("bounds")
    ('analysis.circuit', 'theory.bounds_along')
    """
    return DECLARATIONS[kind].function or f"analysis.{kind}"


def versions() -> dict[str, int]:
    """The present version of each kind."""
    return {kind: declared.version for kind, declared in DECLARATIONS.items()}


def check_kinds(kinds: object, field: str = "kinds") -> tuple[str, ...]:
    """The kinds that were asked for, each once, in the order of `KINDS`; "all" is every one.

    >>> check_kinds(["spikes", "circuit"]), check_kinds("phases")
    (('circuit', 'spikes'), ('phases',))
    >>> check_kinds("all") == KINDS
    True
    >>> check_kinds("phase")
    Traceback (most recent call last):
    dynascope.errors.DynascopeError: kinds: expected kept_sum, circuit, phases, sum_progress,
    spikes, sparsity, attention, tandem, speed, travelled, assemblers, step_over_length, saddles,
    bounds or all, but got 'phase'; did you mean 'phases'?
    """
    what = f"{', '.join(KINDS)} or {ALL}"
    if not isinstance(kinds, str | Iterable) or isinstance(kinds, bytes | Mapping):
        raise expected(field, f"{what}, or a list of them", kinds)
    wanted = [kinds] if isinstance(kinds, str) else list(kinds)
    for kind in wanted:
        if kind not in (*KINDS, ALL):
            raise expected(field, what, kind, did_you_mean(kind, (*KINDS, ALL)))
    return KINDS if ALL in wanted else tuple(kind for kind in KINDS if kind in wanted)

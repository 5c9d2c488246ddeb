"""Ids last: they follow from today's options in full, and from later ones only where these differ
from how things were before."""

import hashlib
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from later_version import AS_BEFORE, nested, run_later

import dynascope as ds
from dynascope.config import LATER, OPTIONS
from dynascope.run import run_id

# The options of format 1, as FORMAT.md lists them; `record` is no part of an id.
FIRST = {
    "task": ("length", "vocab", "relevant", "train_size", "test_size"),
    "model": (
        *("dim", "hidden", "bias", "activation", "norm", "norm_eps", "norm_tau"),
        "embeddings",
    ),
    "training": (
        *("optimizer", "lr", "batch", "epochs", "mlp_lr_discount", "frozen", "momentum"),
        *("beta1", "beta2", "eps", "weight_decay", "clip", "schedule", "warmup", "lr_final"),
        *("query_limit", "unit_rows"),
    ),
}

positive = st.floats(1e-6, 1e6)
options: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "task.length": st.integers(8, 20),
        "task.vocab": st.integers(2, 9),
        "task.relevant": st.integers(1, 8) | st.sets(st.integers(0, 7), min_size=1).map(sorted),
        "task.train_size": st.integers(64, 9999),
        "task.test_size": st.integers(1, 9999),
        "model.dim": st.integers(1, 64),
        "model.hidden": st.integers(1, 64),
        "model.bias": st.booleans(),
        "model.activation": st.sampled_from(["gelu", "relu", "silu"]),
        "model.norm": st.sampled_from(["rms", "unit", "smooth", "none"]),
        "model.norm_eps": st.floats(0, 1),
        "model.norm_tau": st.floats(1e-6, 10),
        "model.embeddings": st.none() | st.integers(9, 20),
        "training.optimizer": st.sampled_from(["sgd", "adam", "adamw"]),
        "training.lr": positive,
        "training.batch": st.integers(1, 64),
        "training.epochs": st.integers(0, 10**7),
        "training.mlp_lr_discount": positive,
        "training.frozen": st.sampled_from([[], ["query"], ["token_embedding", "query"]]),
        "training.momentum": st.floats(0, 0.99),
        "training.beta1": st.floats(0, 0.99),
        "training.beta2": st.floats(0, 0.99),
        "training.eps": positive,
        "training.weight_decay": st.floats(0, 10),
        "training.clip": st.none() | positive,
        "training.schedule": st.sampled_from(["constant", "warmup", "cosine"]),
        "training.warmup": st.integers(0, 10**9),
        "training.query_limit": st.none() | positive,
        "training.unit_rows": st.sampled_from([[], ["token_embedding"]]),
        "precision": st.sampled_from(["float32", "float64"]),
        "record.weights_every": st.integers(0, 9),
    },
)


def canonical(config: ds.Config) -> str:
    """What FORMAT.md says that the column `config` is the SHA-256 of."""
    tables: dict[str, Any] = {"precision": config.precision}
    for section, names in FIRST.items():
        part = getattr(config, section)
        tables[section] = {name: getattr(part, name) for name in names}
    if config.model.embeddings is None:
        tables["model"]["embeddings"] = config.task.vocab
    return json.dumps(tables, sort_keys=True, separators=(",", ":"))


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def as_first(changes: dict[str, Any]) -> ds.Config:
    """A config whose later options are as before."""
    return ds.Config().replace({**LATER, **changes})


@given(options, st.integers(0, 2**53 - 1))
@settings(deadline=None, max_examples=300)
def test_ids_follow_from_the_options_of_format_1(changes: dict[str, Any], seed: int) -> None:
    config = as_first(changes)
    assert config.digest() == sha256(canonical(config))
    text = f'{{"config":{canonical(config)},"data":null,"origin":null,"seed":{seed}}}'
    assert run_id(config, seed, None, None) == sha256(text)[:20]


def test_an_option_more_changes_no_id_but_where_it_differs() -> None:
    found: list[dict[str, Any]] = []

    @given(options)
    @settings(deadline=None, max_examples=100, database=None)
    def collect(changes: dict[str, Any]) -> None:
        found.append({**LATER, **changes})

    collect()
    told = run_later(
        """
        def digest(tables, changes):
            return ds.Config.from_dict(tables).replace(changes).digest()

        other = {"task.noise": 0.5, "training.lookahead": 3, "training.shrink": 1.0}
        print(json.dumps({
            "as before": [digest(each, given["before"]) for each in given["configs"]],
            "with its default": ds.Config().digest(),
            "another": [digest({}, {**given["before"], name: other[name]}) for name in other],
        }))
        """,
        configs=[nested(each) for each in found],
        before=AS_BEFORE,
    )
    assert told["as before"] == [ds.Config().replace(each).digest() for each in found]
    others = {ds.Config().digest(), told["with its default"], *told["another"]}
    assert len(others) == 2 + len(AS_BEFORE)


def test_options_that_can_be_none_were_none_before() -> None:
    """So a null in such a column never means something else than before."""
    maybe = type(OPTIONS["training.clip"])
    for name, before in LATER.items():
        assert not isinstance(OPTIONS[name], maybe) or before is None, name
        OPTIONS[name].read(before)

"""Options: what they become, what survives a round trip, and which of them make a run."""

import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynascope.config import (
    OPTIONS,
    Config,
    ModelConfig,
    RecordConfig,
    TaskConfig,
    TrainingConfig,
    parse_setting,
)
from dynascope.frozen_weights import frozen_mask


def test_numpy_numbers_become_plain() -> None:
    config = Config(
        task=TaskConfig(length=np.int64(6), relevant=np.array([4, 1])),  # type: ignore[arg-type]
        model=ModelConfig(bias=np.True_),  # type: ignore[arg-type]
        training=TrainingConfig(lr=np.float64(0.5), weight_decay=-0.0, clip=1),
    )
    assert (type(config.task.length), config.task.relevant) == (int, (1, 4))
    assert config.model.bias is True
    assert (type(config.training.lr), type(config.training.clip)) == (float, float)
    assert math.copysign(1.0, config.training.weight_decay) == 1.0
    assert config == Config.from_dict(json.loads(json.dumps(config.to_dict())))


@pytest.mark.parametrize("relevant", [3, (0, 1, 2), [2, 1, 0], range(3), {0, 1, 2}, np.arange(3)])
def test_equal_tasks_are_equal(relevant: Any) -> None:
    task, same = TaskConfig(relevant=relevant), TaskConfig(relevant=3)
    assert task == same
    assert hash(task) == hash(same)
    assert task.positions == (0, 1, 2)
    assert Config(task=task).digest() == Config(task=same).digest()


def test_number_of_sequences() -> None:
    assert TaskConfig().sequences == 4096
    assert TaskConfig(vocab=3, length=40, relevant=[39]).sequences == 3**40


def test_shapes_follow_the_options() -> None:
    config = Config().replace({"model.embeddings": 3, "model.dim": 4, "model.bias": False})
    assert config.embeddings == 3
    assert list(config.shapes.items()) == [
        ("token_embedding", (3, 4)),
        ("position_embedding", (12, 4)),
        ("query", (4,)),
        ("value", (4, 4)),
        ("receptors", (32, 4)),
        ("assemblers", (4, 32)),
    ]
    assert Config().embeddings == 2


def test_frozen_has_one_spelling() -> None:
    texts = [" receptors [ 0 : 4 : 1 ]", "receptors[:4]", "value[1,:]", "query[0]", "query[:]"]
    assert TrainingConfig(frozen=texts).frozen == ("query", "value[1]", "receptors[:4]")


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("0", np.s_[0]),
        ("-1", np.s_[-1]),
        ("2:", np.s_[2:]),
        (":3", np.s_[:3]),
        ("1:4:2", np.s_[1:4:2]),
        ("::2", np.s_[::2]),
        ("-2:,0", np.s_[-2:, 0]),
        (":,1", np.s_[:, 1]),
        ("3,-1", np.s_[3, -1]),
    ],
)
def test_frozen_mask_is_numpy_indexing(text: str, index: Any) -> None:
    wanted = np.zeros((4, 2), dtype=np.bool_)
    wanted[index] = True
    masks = frozen_mask([f"receptors[{text}]"], {"query": (2,), "receptors": (4, 2)})
    assert list(masks) == ["query", "receptors"]
    assert not masks["query"].any()
    np.testing.assert_array_equal(masks["receptors"], wanted)


def test_frozen_mask_unites() -> None:
    masks = frozen_mask(["query", "value[0]", "value[1,1]"], {"query": (2,), "value": (2, 2)})
    assert masks["query"].all()
    assert masks["value"].tolist() == [[True, True], [False, True]]


def positive(below: float = 1e6) -> st.SearchStrategy[float]:
    return st.floats(0, below, exclude_min=True, exclude_max=True)


@st.composite
def configs(draw: st.DrawFn) -> Config:
    """Valid configs, with every option drawn now and then."""
    length, vocab = draw(st.integers(1, 40)), draw(st.integers(2, 20))
    train_size, epochs = draw(st.integers(1, 10**4)), draw(st.integers(1, 10**4))
    listed = st.lists(st.integers(0, length - 1), min_size=1, unique=True)
    frozen = st.sampled_from(["query", "value[0]", "receptors[-1:]", "position_embedding[:1]"])
    lr = draw(positive())
    choices: dict[str, st.SearchStrategy[object]] = {
        "task.name": st.sampled_from(["modular-addition", "most-frequent"]),
        "task.relevant": st.one_of(st.integers(1, length), listed),
        "task.test_size": st.integers(1, 10**4),
        "model.dim": st.integers(1, 64),
        "model.hidden": st.integers(1, 999),
        "model.bias": st.booleans(),
        "model.activation": st.sampled_from(["gelu", "relu", "silu"]),
        "model.norm": st.sampled_from(["rms", "unit", "smooth", "none"]),
        "model.norm_eps": st.floats(0, 1),
        "model.norm_tau": positive().map(lambda tau: max(tau, 1e-6)),
        "model.embeddings": st.none() | st.integers(vocab, 30),
        "training.optimizer": st.sampled_from(["sgd", "adam", "adamw", "lion", "muon"]),
        "training.batch": st.integers(1, train_size),
        "training.mlp_lr_discount": positive(),
        "training.frozen": st.lists(frozen),
        "training.clamps": st.lists(st.floats(0.1, 9), max_size=3).map(
            lambda all: [f"attention[0]={each}@{i}:{i + 1}" for i, each in enumerate(all)]
        ),
        "training.momentum": st.floats(0, 1, exclude_max=True),
        "training.beta1": st.floats(0, 1, exclude_max=True),
        "training.beta2": st.floats(0, 1, exclude_max=True),
        "training.eps": positive(1.0),
        "training.weight_decay": st.floats(0, 10),
        "training.clip": st.none() | positive(),
        "training.schedule": st.sampled_from(["constant", "warmup", "cosine"]),
        "training.warmup": st.integers(0, 2**53 - 1),
        "training.lr_final": st.floats(0, lr),
        "training.query_limit": st.none() | positive(),
        "training.nesterov": st.booleans(),
        "training.sam": st.none() | positive(),
        "training.muon_momentum": st.floats(0, 1, exclude_max=True),
        "training.unit_rows": st.lists(st.sampled_from(["token_embedding", "position_embedding"])),
        "record.weights_every": st.integers(0, 100),
        "record.state_every": st.integers(0, 100),
        "record.gradients": st.booleans(),
        "record.full_gradients": st.booleans(),
        "record.unseen": st.booleans(),
        "record.steps": st.none() | st.integers(0, epochs - 1).map(lambda a: (a, epochs)),
        "precision": st.sampled_from(["float32", "float64"]),
    }
    fixed: dict[str, object] = {
        "task.length": length,
        "task.vocab": vocab,
        "task.train_size": train_size,
        "training.lr": lr,
        "training.epochs": epochs,
    }
    assert {*choices, *fixed} == set(OPTIONS)
    return Config().replace(fixed | {name: draw(values) for name, values in choices.items()})


def as_toml(config: Config) -> str:
    """TOML of a config; JSON spells its values alike, and what is None is left out."""
    tables = config.to_dict()
    lines = [f"precision = {json.dumps(tables.pop('precision'))}"]
    for section, options in tables.items():
        lines.append(f"[{section}]")
        lines += [f"{k} = {json.dumps(v)}" for k, v in options.items() if v is not None]
    return "\n".join(lines)


@given(configs())
def test_tables_and_back(config: Config) -> None:
    again = Config.from_dict(json.loads(json.dumps(config.to_dict(), allow_nan=False)))
    assert again == config
    assert hash(again) == hash(config)
    assert again.digest() == config.digest()
    assert pickle.loads(pickle.dumps(config)) == config


@given(configs())
def test_toml_and_back(tmp_path_factory: pytest.TempPathFactory, config: Config) -> None:
    path = tmp_path_factory.mktemp("toml") / "config.toml"
    path.write_text(as_toml(config), encoding="utf-8")
    assert Config.from_toml(path) == config


@given(configs(), configs())
def test_replacing_everything_gives_the_other(one: Config, other: Config) -> None:
    tables = other.to_dict()
    changes = {"precision": tables.pop("precision")}
    changes |= {f"{s}.{name}": v for s, options in tables.items() for name, v in options.items()}
    assert one.replace(changes) == other
    assert one.replace({}) == one


@given(configs())
def test_settings_spell_any_config(config: Config) -> None:
    tables = config.to_dict()
    changes = {"precision": tables.pop("precision")}
    for section, options in tables.items():
        for name, value in options.items():
            text = "none" if value is None else json.dumps(value)
            changes |= [parse_setting(f"{section}.{name}={text}")]
    assert Config().replace(changes) == config


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("model.dim = 3", 3),
        ("training.lr=1e-2", 0.01),
        ("model.bias=false", False),
        ("model.norm=smooth", "smooth"),
        ("model.norm='smooth'", "smooth"),
        ("model.norm=none", "none"),
        ("model.embeddings=none", None),
        ("record.steps=None", None),
        ("task.relevant=[0, 3]", [0, 3]),
        ('training.frozen=["value[0,1]"]', ["value[0,1]"]),
        ("model.norm=a=b", "a=b"),
        ("model.norm=", ""),
        ("model.dim=3\nx = 4", "3\nx = 4"),
        ("model.dim=" + "9" * 5000, "9" * 5000),
        ("model.dim=" + "[" * 9999, "[" * 9999),
    ],
)
def test_setting_values(text: str, value: object) -> None:
    assert parse_setting(text)[1] == value


def test_file_may_be_partial_and_start_with_a_mark(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xef\xbb\xbf[model]\ndim = 3\n")
    assert Config.from_toml(str(path)) == Config(model=ModelConfig(dim=3))


def test_digest_is_pinned() -> None:
    """Ids of stored runs hang on this number: a new value makes every kept run a stranger."""
    assert Config().digest() == "8c11fd0cf77bb7707ec1e960f6de265407d4261a02447c5e2d8b552823316dd2"


def test_recording_does_not_change_the_run() -> None:
    other = Config(record=RecordConfig(weights_every=0, steps=(1, 2), unseen=True))
    assert other != Config()
    assert other.digest() == Config().digest()
    assert "record" in other.to_dict()
    assert "record" not in json.loads(other.canonical_json())


def test_embeddings_spelt_out_are_the_same_run() -> None:
    assert Config(model=ModelConfig(embeddings=2)).digest() == Config().digest()
    assert Config(model=ModelConfig(embeddings=3)).digest() != Config().digest()


@pytest.mark.parametrize("name", [name for name in OPTIONS if not name.startswith("record.")])
def test_every_option_of_a_run_is_in_the_digest(name: str) -> None:
    assert Config().replace({name: OTHER[name]}).digest() != Config().digest()


OTHER: dict[str, object] = {
    "task.name": "most-frequent",
    "task.length": 11,
    "task.vocab": 3,
    "task.relevant": [0, 2],
    "task.train_size": 100,
    "task.test_size": 100,
    "model.dim": 3,
    "model.hidden": 31,
    "model.bias": False,
    "model.activation": "relu",
    "model.norm": "smooth",
    "model.norm_eps": 0.0,
    "model.norm_tau": 0.5,
    "model.embeddings": 3,
    "training.optimizer": "sgd",
    "training.lr": 0.1,
    "training.batch": 2048,
    "training.epochs": 1001,
    "training.mlp_lr_discount": 2.0,
    "training.frozen": ["query"],
    "training.clamps": ["attention[0:5]=0.2@1:2"],
    "training.momentum": 0.9,
    "training.beta1": 0.0,
    "training.beta2": 0.99,
    "training.eps": 1e-6,
    "training.weight_decay": 0.1,
    "training.clip": 1.0,
    "training.schedule": "cosine",
    "training.warmup": 10,
    "training.lr_final": 1e-4,
    "training.query_limit": 5.0,
    "training.unit_rows": ["token_embedding"],
    "training.nesterov": True,
    "training.sam": 0.05,
    "training.muon_momentum": 0.9,
    "precision": "float64",
}

"""Options that are refused: one table of cases, each with the field and words of its sentence."""

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from dynascope.config import Config, TaskConfig, parse_setting
from dynascope.errors import DynascopeError, expected, unknown
from dynascope.frozen_weights import frozen_mask


class Bad(NamedTuple):
    """Options that are refused, the field that is blamed, and words of the sentence."""

    changes: dict[str, object]
    field: str
    words: tuple[str, ...]


def bad(name: str, value: object, *words: str, **others: object) -> Bad:
    """The option `name` is to blame; `others` are further options, `__` for the dot."""
    more = {key.replace("__", "."): other for key, other in others.items()}
    return Bad({name: value, **more}, name, words)


SIZES = [
    bad("model.dim", -3, "a whole number from 1 to 1024", "got -3"),
    bad("model.dim", 1025, "to 1024"),
    bad("model.dim", 10**5000, "to 1024", "of type int"),
    bad("model.hidden", 0, "from 1 to 65536"),
    bad("model.embeddings", 1, "none or a whole number from 2 to 8192"),
    bad("task.length", 0, "from 1 to 1024"),
    bad("task.vocab", 1, "from 2 to 4096"),
    bad("task.vocab", 4096, "at most 1048576", "task.length * task.vocab", task__length=1024),
    bad("task.train_size", 0, "from 1 to 16777216"),
    bad("task.test_size", 2**24 + 1, "from 1 to 16777216"),
    bad("training.batch", 0, "a whole number from 1"),
    bad("training.epochs", -1, "from 0 to 10000000"),
    bad("training.warmup", -1, "from 0"),
    bad("record.weights_every", -1, "from 0"),
    bad("record.state_every", -1, "from 0"),
]

RELEVANT = [
    bad("task.relevant", 0, "1 or more"),
    bad("task.relevant", 13, "at most task.length = 12", "got 13"),
    bad("task.relevant", [0, 12], "positions below task.length = 12", "got (0, 12)"),
    bad("task.relevant", [-1, 3], "0-based", "got -1"),
    bad("task.relevant", [3, 1, 3], "distinct", "position 3 is repeated"),
    bad("task.relevant", [], "a list of distinct", "got []"),
    bad("task.relevant", "012", "a list of distinct"),
    bad("task.relevant", {0: 1}, "a list of distinct"),
    bad("task.relevant", range(10**30), "a list of distinct"),
    bad("task.relevant", np.array(3.0), "a list of distinct"),
    bad("task.relevant", 5, "at most task.length = 4", task__length=4),
]

NUMBERS = [
    bad("training.lr", 0, "a finite number above 0", "got 0"),
    bad("training.lr", math.nan, "finite", "got nan"),
    bad("training.lr", math.inf, "finite", "got inf"),
    bad("training.lr", 10**400, "finite"),
    bad("training.mlp_lr_discount", 0.0, "above 0"),
    bad("training.momentum", 1, "of at least 0 and below 1"),
    bad("training.beta1", 1.0, "below 1"),
    bad("training.muon_momentum", 1.0, "below 1"),
    bad("training.sam", 0.0, "none or a finite number above 0"),
    bad("training.beta2", -0.1, "of at least 0"),
    bad("training.eps", 0.0, "above 0"),
    bad("training.weight_decay", -1e-9, "of at least 0"),
    bad("training.clip", 0.0, "none or a finite number above 0"),
    bad("training.query_limit", -1.0, "none or a finite number above 0"),
    bad("model.norm_eps", -1e-5, "of at least 0"),
    bad("model.norm_tau", np.float32("nan"), "of at least 1e-06"),
]

TYPES = [
    bad("model.dim", True, "a whole number", "got True"),
    bad("model.dim", 2.0, "a whole number", "got 2.0"),
    bad("model.dim", "2", "a whole number", "got '2'"),
    bad("model.dim", None, "a whole number", "got None"),
    bad("model.bias", 1, "true or false", "got 1"),
    bad("training.lr", True, "a finite number"),
    bad("training.lr", "fast", "a finite number", "got 'fast'"),
    bad("training.lr", 1j, "a finite number"),
    bad("model.norm", None, "one of 'rms', 'unit', 'smooth', 'none'"),
    bad("task.relevant", [0, 1.5], "got 1.5"),
    bad("training.unit_rows", "token_embedding", "a list of any of"),
    bad("model.dim", "x" * 1000, "a whole number", "xxx..."),
    bad("model.dim", np.zeros((3, 3)), "a whole number", "array("),
]

WORDS = [
    bad("model.activation", "GELU", "one of 'gelu', 'relu', 'silu'", "did you mean 'gelu'?"),
    bad("model.activation", "softplus", "got 'softplus'."),
    bad("model.norm", "smoth", "did you mean 'smooth'?"),
    bad("training.optimizer", "adamm", "did you mean 'adam'?"),
    bad("training.optimizer", "Muon", "did you mean 'muon'?"),
    bad("training.optimizer", "SAM", "goes with every optimizer: set training.sam to its radius"),
    bad("training.schedule", "cosin", "did you mean 'cosine'?"),
    bad("training.unit_rows", ["tokens_embedding"], "did you mean 'token_embedding'?"),
    bad("precision", "float16", "one of 'float32', 'float64'", "got 'float16'"),
]

FROZEN = [
    bad("training.frozen", "query", "a list of parameter names", "got 'query'"),
    bad("training.frozen", [3], "a list of parameter names", "got 3"),
    bad("training.frozen", ["positon_embedding[5:]"], "did you mean 'position_embedding'?"),
    *(
        bad("training.frozen", [text], "an optional index as in 'value[0,1]'", f"got {text!r}")
        for text in (
            *("", "[0]", "value[]", "value[0", "value[0]]", "value[a]", "value[0,]", "value[...]"),
            *("value[1.0]", "value[1 2]", "value[::0]", "value[::-1]", "value[0:1:1:1]"),
            *("value[[0]]", "value[0][1]", "value[\u0663]", "value[1e3]", "value[9999999999]"),
        )
    ),
    *(
        bad("training.frozen", ["assemblers", text], f"whose shape is {shape}", f"got {text!r}")
        for text, shape in (
            ("query[2]", "(2,)"),
            ("query[-3]", "(2,)"),
            ("query[0,0]", "(2,)"),
            ("position_embedding[12:]", "(12, 2)"),
            ("position_embedding[3:3]", "(12, 2)"),
            ("receptors[:33]", "(32, 2)"),
            ("value[-3:]", "(2, 2)"),
        )
    ),
    bad("training.frozen", ["receptor_bias"], "parameters of this model", model__bias=False),
]

RELATIONS = [
    bad("training.batch", 4096, "at most task.train_size = 2048", "got 4096"),
    bad("training.batch", 32, "at most task.train_size = 8", task__train_size=8),
    bad("model.embeddings", 2, "at least task.vocab = 3", task__vocab=3),
    bad("training.lr_final", 0.1, "at most training.lr = 0.003", "got 0.1"),
    bad("record.steps", (5, 1001), "training.epochs = 1000", "got (5, 1001)"),
    bad("record.steps", (5, 5), "0 <= a < b", "got (5, 5)"),
    bad("record.steps", (-1, 5), "0 <= a < b", "got -1"),
    bad("record.steps", (1, 2, 3), "two whole numbers"),
    bad("record.steps", 5, "two whole numbers", "got 5"),
]


def assert_sentence(error: DynascopeError, field: str, words: tuple[str, ...]) -> None:
    """One line, of bounded length, that opens with the field and holds all the words."""
    text = str(error)
    assert text.startswith(f"{field}: ")
    assert text.isprintable()
    assert len(text) < 400
    assert text[-1] in ".?)"
    for word in words:
        assert word in text


@pytest.mark.parametrize(
    "case",
    [*SIZES, *RELEVANT, *NUMBERS, *TYPES, *WORDS, *FROZEN, *RELATIONS],
    ids=lambda case: case.field,
)
def test_bad_value_is_one_sentence(case: Bad) -> None:
    with pytest.raises(DynascopeError) as caught:
        Config().replace(case.changes)
    assert_sentence(caught.value, case.field, (*case.words, "expected ", ", but got "))


@pytest.mark.parametrize(
    ("tables", "field", "words"),
    [
        ({"modle": {}}, "modle", ("unknown option", "did you mean 'model'?")),
        ({"dim": 3}, "dim", ("unknown option", "did you mean 'model.dim'?")),
        ({"xyz": 3}, "xyz", ("unknown option", "(options: task, model, training, record")),
        ({"model": {"activaton": "relu"}}, "model.activaton", ("did you mean 'activation'?",)),
        ({"model": {"xyz": 0}}, "model.xyz", ("unknown option", "(options: dim, hidden")),
        ({"model": {"a\nb": 0}}, "model", (r"'a\nb': unknown option",)),
        ({"model": {7: 0}}, "model", ("7: unknown option",)),
        ({"model": 3}, "model", ("expected a table of options, but got 3",)),
        ({"model": {"dim": 0}}, "model.dim", ("from 1 to 1024, but got 0",)),
        ([], "config", ("expected a table of options, but got []",)),
    ],
)
def test_bad_table_is_one_sentence(tables: Any, field: str, words: tuple[str, ...]) -> None:
    with pytest.raises(DynascopeError) as caught:
        Config.from_dict(tables)
    assert_sentence(caught.value, field, words)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("dim", "model.dim"), ("modl.dim", "model.dim"), ("training.l_r", "training.lr")],
)
def test_replace_suggests_the_dotted_name(name: str, meant: str) -> None:
    with pytest.raises(DynascopeError) as caught:
        Config().replace({name: 3})
    assert_sentence(caught.value, name, (f"did you mean '{meant}'?",))


def test_section_of_another_type_is_refused() -> None:
    with pytest.raises(DynascopeError, match=r"^model: expected a ds.ModelConfig or a dict of its"):
        Config(model=TaskConfig())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "field", "words"),
    [
        ("model.dim", "--set", ("expected NAME=VALUE, such as model.dim=3",)),
        ("dim=3", "dim", ("did you mean 'model.dim'?",)),
    ],
)
def test_bad_setting_is_one_sentence(text: str, field: str, words: tuple[str, ...]) -> None:
    with pytest.raises(DynascopeError) as caught:
        parse_setting(text)
    assert_sentence(caught.value, field, words)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, ("expected a readable file", "No such file")),
        (b"dim =\n", ("expected TOML", "line 1")),
        (b"x = " + b"[" * 9999, ("expected TOML",)),
        (b"\xff\xfed\x00i\x00", ("expected UTF-8 text", "byte 0xff at offset 0")),
        (b"[model]\ndim = -3", ("model.dim: expected a whole number from 1 to 1024, but got -3.",)),
        (b"[modle]\ndim = 3", ("modle: unknown option; did you mean 'model'?",)),
        (b"[model]\nsince = 1979-05-27", ("model.since: unknown option",)),
    ],
)
def test_bad_file_is_one_sentence(
    tmp_path: Path, content: bytes | None, words: tuple[str, ...]
) -> None:
    path = tmp_path / "config.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DynascopeError) as caught:
        Config.from_toml(path)
    assert_sentence(caught.value, str(path), words)


def test_frozen_mask_checks_by_itself() -> None:
    with pytest.raises(DynascopeError) as caught:
        frozen_mask(["query[2]"], {"query": (2,)})
    assert_sentence(caught.value, "training.frozen", ("shape is (2,)", "got 'query[2]'"))


def test_errors_bear_absurd_values() -> None:
    nested: list[object] = []
    for _ in range(10**4):
        nested = [nested]
    assert str(expected("x", "a", nested)) == "x: expected a, but got a value of type list."
    assert str(expected("x", "a", 10**5000)) == "x: expected a, but got a value of type int."
    assert str(unknown("x", "", ["a"])) == "x: '': unknown option (options: a)."
    assert "\n" not in str(expected("x", "a", np.zeros((50, 50))))

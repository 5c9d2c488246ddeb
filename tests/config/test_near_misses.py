"""What a person new to dynascope tries gets a sentence that names the right way.

Words of PyTorch and pandas, options as arguments, attributes that are elsewhere: each of these was
a bare TypeError or AttributeError.
"""

import copy
import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dynascope as ds
from dynascope import analysis, theory
from dynascope.analysis import circuit, phases, spikes
from dynascope.catalog import OPTIONS
from dynascope.near_misses import guided, guided_class
from dynascope.option_words import OPTION_WORDS

any_: Any = ds  # so that the type checker lets mistakes through


@pytest.fixture(scope="module")
def runs() -> Any:
    return ds.train({"training.epochs": 2}, seeds=3, progress=False)


CALLS: dict[str, tuple[Callable[[], object], str]] = {
    "an option": (
        lambda: any_.train(epochs=5),
        'it is an option: pass config=ds.Config().replace({"training.epochs": 5})',
    ),
    "two options": (
        lambda: any_.train(lr=0.1, batch_size=8),
        'replace({"training.lr": 0.1, "training.batch": 8})',
    ),
    "a seed": (lambda: any_.train(seed=3), "did you mean seeds=[3]?"),
    "a number of seeds": (lambda: any_.train(n_seeds=3), "did you mean seeds=3?"),
    "seeds of a trainer": (lambda: any_.Trainer(seeds=3), "did you mean seed=3?"),
    "a device": (lambda: any_.train(device="cuda"), "runs on the CPU"),
    "jobs": (lambda: any_.train(n_jobs=2), "did you mean threads=2?"),
    "verbose": (lambda: any_.train(verbose=False), "did you mean progress=False?"),
    "a slip": (lambda: any_.train(thread=2), "did you mean 'threads'?"),
    "nothing like it": (lambda: any_.train(zebra=2), "its arguments are config, seeds, threads"),
    "too many": (lambda: any_.train(None, 1, 2), "call it as train(config=None, seeds=1"),
    "seeds first": (lambda: any_.train(4), "for seeds, write seeds=4"),
    "a file": (lambda: any_.train("my.toml"), "ds.Config.from_toml(path) reads a file"),
    "a section": (lambda: any_.train(ds.TrainingConfig()), "write ds.Config(training=...)"),
    "a bare option in a dict": (lambda: ds.train({"lr": 0.1}), "did you mean 'training.lr'?"),
    "an option twice": (
        lambda: ds.train({"training": {"lr": 0.1}, "training.lr": 0.2}),
        "training.lr: given twice",
    ),
    "options of a config": (
        lambda: any_.Config(lr=0.1),
        'ds.Config().replace({"training.lr": 0.1})',
    ),
    "another word": (lambda: any_.TaskConfig(n=3), "did you mean length=3?"),
    "d_model": (lambda: any_.ModelConfig(d_model=3), "did you mean dim=3?"),
    "layers": (lambda: any_.ModelConfig(n_layers=3), "one block with one query"),
    "learning rate": (lambda: any_.TrainingConfig(learning_rate=1), "did you mean lr=1?"),
    "rho": (lambda: any_.TrainingConfig(rho=0.1), "did you mean sam=0.1?"),
    "rho of a run": (lambda: any_.train(sharpness_aware=1), 'replace({"training.sam": 1})'),
    "another section's": (lambda: any_.ModelConfig(lr=1), 'replace({"training.lr": 1})'),
    "replace by name": (lambda: any_.Config().replace(lr=1), 'replace({"training.lr": 1})'),
    "replace by nothing": (lambda: any_.Config().replace(3), "a dict such as"),
    "change by name": (lambda: any_.Trainer().change(lr=1), 'change({"training.lr": 1})'),
    "an assignment": (
        lambda: setattr(ds.Config().training, "lr", 0.1),
        'config = config.replace({"training.lr": 0.1})',
    ),
    "an assignment to a config": (
        lambda: setattr(ds.Config(), "epochs", 5),
        'config = config.replace({"training.epochs": 5})',
    ),
    "no tokens": (
        lambda: any_.forward(ds.initial_parameters()),
        "call it as forward(parameters, tokens, model=None, ablate=None, patch=None)",
    ),
    "inputs": (lambda: any_.forward(ds.initial_parameters(), x=[[0]]), "did you mean tokens="),
    "labels": (lambda: any_.loss_and_gradient(y=[1]), "did you mean targets="),
    "no folder": (lambda: any_.load(), "call it as load(folder, strict=False"),
    "a path": (lambda: any_.load(path="runs"), "did you mean folder='runs'?"),
    "own data": (lambda: any_.Data(x=1, y=2), "did you mean train=1?"),
    "no config": (lambda: any_.analysis.circuit(1), "as circuit(parameters, config, progress"),
    "advance": (lambda: any_.Trainer().advance(epoch=3), "did you mean epochs=3?"),
    "curvature": (lambda: any_.theory.ideal_head(vocab=3), 'replace({"task.vocab": 3})'),
    "in the module": (lambda: any_.circuit, "did you mean ds.analysis.circuit?"),
    "fit": (lambda: any_.fit, "did you mean ds.train(config, seeds)?"),
    "claims": (lambda: any_.claims, 'did you mean ds.study("all")?'),
    "a slip in the module": (lambda: any_.Trainr, "did you mean Trainer?"),
    "an option of a config": (lambda: any_.Config().lr, "did you mean config.training.lr?"),
    "of a section": (lambda: any_.Config().model.d_model, "did you mean config.model.dim?"),
    "weights' attributes": (
        lambda: any_.initial_parameters().state_dict(),
        "did you mean to_state_dict()?",
    ),
    "a trainer's loss": (lambda: any_.Trainer().loss, "did you mean trainer.run.curves"),
    "a trainer's train": (lambda: any_.Trainer().train(3), "did you mean trainer.advance(epochs)"),
}


@pytest.mark.parametrize("case", CALLS)
def test_a_near_miss(case: str) -> None:
    call, words = CALLS[case]
    with pytest.raises(ds.DynascopeError) as caught:
        call()
    sentence = str(caught.value)
    assert words in sentence
    assert sentence.endswith((".", "?"))
    assert "\n" not in sentence


OF_RUNS: dict[str, tuple[Callable[[Any], object], str]] = {
    "loss": (lambda runs: runs[0].loss, "did you mean run.curves['train_loss']?"),
    "accuracy": (lambda runs: runs[0].accuracy, "run.curves['test_accuracy']"),
    "a parameter": (lambda runs: runs[0].query, "run.parameters().query"),
    "an option": (lambda runs: runs[0].lr, "run.config.training.lr"),
    "a slip": (lambda runs: runs[0].parameter(3), "did you mean parameters?"),
    "saving one": (lambda runs: runs[0].save("x"), "ds.Runs([run]).save(folder)"),
    "an argument": (lambda runs: runs[0].parameters(at=3), "did you mean epoch=3?"),
    "a mean": (lambda runs: runs.mean(), "runs.curve('test_accuracy').mean(axis=0)"),
    "pandas": (lambda runs: runs.to_pandas(), "did you mean runs.frame()?"),
    "a filter": (lambda runs: runs.filter("x"), "runs.where("),
    "a loss of all": (lambda runs: runs.train_loss, "runs.curve('train_loss')"),
    "text": (lambda runs: runs["3"], "runs.by_seed(3)"),
    "a list": (lambda runs: runs[[0, 1]], "but got list"),
    "added to a number": (lambda runs: runs + [3], "a list of ds.Run to add"),  # noqa: RUF005
    "one for all": (lambda runs: phases(runs), "call it for each run"),
    "weights for a run": (lambda runs: spikes(runs[0].parameters()), "expected a ds.Run"),
    "a run for weights": (lambda runs: circuit(runs[0], runs[0].config), "its .parameters()"),
    "a run for a model": (
        lambda runs: ds.forward(runs[0].parameters(), [[0] * 12], runs[0]),
        "pass its .config",
    ),
}


@pytest.mark.parametrize("stored", [False, True], ids=["in memory", "stored"])
@pytest.mark.parametrize("case", OF_RUNS)
def test_a_near_miss_of_runs(case: str, stored: bool, runs: Any, tmp_path: Path) -> None:
    if stored:
        runs.save(tmp_path / "store")
        runs = ds.load(tmp_path / "store")
    call, words = OF_RUNS[case]
    with pytest.raises(ds.DynascopeError) as caught:
        call(runs)
    assert words in str(caught.value)


def public() -> dict[str, Callable[..., object]]:
    """Every function that people are meant to call, and what makes objects."""
    found = {f"ds.{name}": getattr(ds, name) for name in dir(ds) if not name.startswith("_")}
    for module in (analysis, theory):
        found |= {f"{module.__name__}.{name}": value for name, value in vars(module).items()}
    functions = {n: v for n, v in found.items() if inspect.isfunction(v)}
    made = (ds.Config, *(type(part) for part in vars_of(ds.Config())), ds.Data, ds.Trainer)
    return functions | {kind.__name__: kind for kind in (*made, ds.Parameters)}


def vars_of(config: ds.Config) -> list[object]:
    return [config.task, config.model, config.training, config.record]


@pytest.mark.parametrize("name", public())
def test_every_public_function_is_guided(name: str) -> None:
    with pytest.raises(ds.DynascopeError, match="there is no argument 'zebra'") as caught:
        public()[name](zebra=1)
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_is_found_by_its_short_name(option: str) -> None:
    short, value = OPTIONS[option].short, OPTIONS[option].default
    with pytest.raises(ds.DynascopeError) as caught:
        any_.train(**{short: value})
    assert f'"{option}"' in str(caught.value) or "did you mean" in str(caught.value)


def test_other_words_name_options_that_exist() -> None:
    assert set(OPTION_WORDS.values()) <= OPTIONS.keys()
    assert not OPTION_WORDS.keys() & {option.short for option in OPTIONS.values()}


@given(st.text(min_size=1, max_size=12), st.text(min_size=1, max_size=12))
def test_any_word_gets_a_sentence(argument: str, attribute: str) -> None:
    with pytest.raises(TypeError) as caught:
        any_.hessian(**{argument: 1})
    assert isinstance(caught.value, ds.DynascopeError)
    if not hasattr(ds.Config, attribute) and not attribute.startswith("_"):
        with pytest.raises(AttributeError) as missing:
            getattr(ds.Config(), attribute)
        assert isinstance(missing.value, ds.DynascopeError)


def test_an_error_from_within_is_left_alone() -> None:
    @guided
    def inner(number: int) -> int:
        return number + "3"  # type: ignore[operator]

    with pytest.raises(TypeError, match="unsupported operand") as caught:
        inner(3)
    assert not isinstance(caught.value, ds.DynascopeError)


def test_a_property_that_fails_shows_its_own_error() -> None:
    @guided_class()
    class Broken:
        @property
        def value(self) -> int:
            return self.nothing_here  # type: ignore[attr-defined,no-any-return]

        @property
        def other(self) -> int:
            raise AttributeError("its own words")

    with pytest.raises(AttributeError, match="its own words"):
        Broken().other  # noqa: B018
    with pytest.raises(AttributeError, match="nothing_here"):
        Broken().value  # noqa: B018


def test_objects_copy_and_pickle_as_before(runs: Any) -> None:
    for thing in (ds.Config(), ds.Config().task, runs[0], runs, runs[0].parameters()):
        again = pickle.loads(pickle.dumps(copy.deepcopy(thing)))
        assert type(again) is type(thing)
    assert pickle.loads(pickle.dumps(runs[0])).id == runs[0].id


# ---- dicts wherever a config is -------------------------------------------------------------
TABLES = {"model": {"dim": 3, "activation": "relu"}, "training": {"epochs": 1}}
DOTTED = {"model.dim": 3, "model.activation": "relu", "training.epochs": 1}
MIXED = {"model": {"dim": 3}, "model.activation": "relu", "training": ds.TrainingConfig(epochs=1)}
WHOLE = ds.Config.from_dict(TABLES)

TAKERS: dict[str, Callable[[Any], object]] = {
    "train": lambda c: ds.train(c, progress=False)[0].id,
    "Trainer": lambda c: ds.Trainer(c).config,
    "initial_parameters": lambda c: ds.initial_parameters(c).flat.tolist(),
    "dataset": lambda c: [part.tolist() for part in ds.dataset(c, seed=3)],
    "forward": lambda c: ds.forward(PARAMETERS, TOKENS, c).logits.tolist(),
    "loss_and_gradient": lambda c: ds.loss_and_gradient(PARAMETERS, TOKENS, [0], c)[0],
    "hessian": lambda c: ds.hessian(PARAMETERS, TOKENS, [0], c).tolist(),
    "circuit": lambda c: circuit(PARAMETERS, c).accuracy,
    "attention map": lambda c: analysis.attention_map(PARAMETERS, c).tolist(),
    "sparsity": lambda c: analysis.sparsity(PARAMETERS, c).share.tolist(),
    "kept_sum": lambda c: analysis.kept_sum(PARAMETERS, c).describe(),
    "distance": lambda c: analysis.embedding_distance(PARAMETERS, PARAMETERS, c).before,
    "ideal head": lambda c: theory.ideal_head(c).parameters.flat.tolist(),
    "stationarity": lambda c: theory.stationarity(PARAMETERS, TOKENS, [0], c).describe(),
    "flat directions": lambda c: theory.flat_directions(PARAMETERS, c).tolist(),
    "replace": lambda c: ds.Config().replace(c if not isinstance(c, ds.Config) else c.to_dict()),
}
PARAMETERS = ds.initial_parameters(WHOLE, seed=1)
TOKENS = [[0, 1] * 6]


@pytest.mark.parametrize("given", [TABLES, DOTTED, MIXED], ids=["tables", "dotted", "mixed"])
@pytest.mark.parametrize("taker", TAKERS)
def test_a_dict_is_taken_wherever_a_config_is(taker: str, given: Any) -> None:
    np.testing.assert_equal(TAKERS[taker](given), TAKERS[taker](WHOLE))


def test_the_options_of_one_section_may_stand_alone() -> None:
    short = {"length": 4, "relevant": 2, "train_size": 8}
    assert ds.dataset(short)[0].shape == (8, 4)  # fewer than a batch, which no data set has
    got = ds.forward(PARAMETERS, TOKENS, {"activation": "relu"})  # sizes from the parameters
    assert (got.logits == ds.forward(PARAMETERS, TOKENS, WHOLE).logits).all()
    assert any_.Config(training={"epochs": 5}) == ds.Config().replace({"training.epochs": 5})
    for wrong in ({"lenght": 4}, {"task": {"lenght": 4}}, {"task.lenght": 4}):
        with pytest.raises(ds.DynascopeError, match=r"did you mean '(task\.)?length'"):
            ds.dataset(wrong)


# ---- runs + runs ----------------------------------------------------------------------------
def test_runs_add_up(tmp_path: Path) -> None:
    config = {"training.epochs": 2}
    low, high = (ds.train(config, seeds, progress=False) for seeds in ([0, 1], [1, 2]))
    both = low + high
    assert isinstance(both, ds.Runs)
    assert both.seeds == [0, 1, 2]  # seed 1 is the same run twice
    assert both[1] is low[1]
    low.save(tmp_path / "low")
    stored = ds.load(tmp_path / "low")
    assert (stored + high).seeds == (low + ds.load(tmp_path / "low") + high).seeds == [0, 1, 2]
    assert sum([low, high]).seeds == sum([low, high], ds.Runs([])).seeds == [0, 1, 2]
    assert (low + high[1]).seeds == (low + [high[1]]).seeds == [0, 1, 2]  # noqa: RUF005
    both.save(tmp_path / "both")
    assert len(ds.load(tmp_path / "both")) == 3
    for wrong in (3, None):
        with pytest.raises(TypeError):
            low + wrong  # type: ignore[operator]


def test_of_a_run_there_twice_the_longer_record_stays() -> None:
    trainer = ds.Trainer({"training.epochs": 4}, seed=5)
    trainer.advance(2)
    short = trainer.run
    trainer.advance(2)
    assert trainer.run.id == short.id
    assert (ds.Runs([short]) + trainer.run)[0].epochs == 4
    assert (ds.Runs([trainer.run]) + short)[0].epochs == 4

"""Arguments and attributes that do not exist get a sentence that names the right way.

`guided` is on every public function, `guided_class` on every public class. A call that does not fit
the signature says what to write instead: an option given as an argument (`train(epochs=5)`), a word
of other libraries (`batch_size`), a slip (`thread=2`). Calls that fit are not touched, and type
checkers see the functions as they are. An attribute that a class lacks is answered from a table of
where people find what they meant.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import FrozenInstanceError
from typing import Any, ParamSpec, TypeVar

from dynascope.errors import DynascopeError, did_you_mean, shown
from dynascope.option_words import NOT_HERE, argument_meant, option_meant

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")
Places = Mapping[str, str]

_LONGEST_VALUE = 20  # characters: what is to be typed again must be short


class ArgumentsError(DynascopeError, TypeError):
    """A call that does not fit; the sentence says how to write it."""


class NoAttributeError(DynascopeError, AttributeError):
    """An attribute that is not there; the sentence says where to look."""


class FrozenOptionError(DynascopeError, FrozenInstanceError):
    """An assignment to an option; the sentence says how to change it."""


def guided(function: Callable[P, R]) -> Callable[P, R]:
    """The function; called with arguments that it does not have, it says what to write instead.

    >>> @guided
    ... def train(config=None, seeds=1): ...
    >>> try:
    ...     train(epochs=5)
    ... except TypeError as error:
    ...     print(error)
    train: there is no argument 'epochs'; it is an option: pass
    config=ds.Config().replace({"training.epochs": 5}).
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                name = function.__qualname__.removesuffix(".__init__")
                sentence = _misfit(name, signature, kwargs, str(error))
                raise ArgumentsError(sentence) from None
            raise  # from within: not about the call

    return call


def guided_class(places: Callable[[], Places] = dict) -> Callable[[type[C]], type[C]]:
    """A decorator: the methods of the class are `guided`, and what it lacks is looked up in
    `places`: where people find what they call so, as they would write it."""

    def decorate(cls: type[C]) -> type[C]:
        def missing(self: object, name: str) -> Any:
            if name.startswith("_"):  # asked for by Python itself, such as when it copies
                raise AttributeError(f"{cls.__name__!r} object has no attribute {name!r}")
            if hasattr(type(self), name):  # a property that failed: again, for its own error
                return object.__getattribute__(self, name)
            raise no_attribute(type(self).__name__, name, dir(type(self)), places())

        _guide_methods(cls)
        cls.__init_subclass__ = classmethod(_guide_methods)  # type: ignore[assignment]
        if "__getattr__" not in vars(cls):
            setattr(cls, "__getattr__", missing)  # noqa: B010  mypy must not see it: all would fit
        return cls

    return decorate


def _guide_methods(cls: type) -> None:
    for name, method in list(vars(cls).items()):
        if inspect.isfunction(method) and (name == "__init__" or not name.startswith("_")):
            setattr(cls, name, guided(method))


def no_attribute(owner: str, name: str, has: Iterable[str], places: Places) -> NoAttributeError:
    """The error for an attribute that is not there."""
    own = [each for each in has if not each.startswith("_")]
    how = places.get(name) or places.get(name.lower())
    if not how:
        meant = did_you_mean(name, own) or did_you_mean(name, places)
        near = meant.partition("'")[2].removesuffix("'?")
        how = places.get(near, near)
    rest = f"did you mean {how}?" if how else f"it has {', '.join(own)}."
    return NoAttributeError(f"{owner}: there is no {name!r}; {rest}")


def refuse_assignment(path: Callable[[str], str]) -> Callable[[type[C]], type[C]]:
    """A decorator for frozen options: an assignment says how to change one; `path` is its dotted
    name."""

    def refuse(self: object, name: str, value: object) -> None:
        raise FrozenOptionError(
            f"{path(name)}: a config cannot be changed in place; make another one: "
            f"config = config.replace({_dict({path(name): value})})."
        )

    def decorate(cls: type[C]) -> type[C]:
        setattr(cls, "__setattr__", refuse)  # noqa: B010
        return cls

    return decorate


def _misfit(name: str, signature: inspect.Signature, given: Mapping[str, Any], why: str) -> str:
    takes = [p for p in signature.parameters if p != "self"]
    wrong = {word: value for word, value in given.items() if word not in takes}
    if not wrong:
        shape = ", ".join(map(_brief, (signature.parameters[each] for each in takes)))
        return f"{name}: {why}; call it as {name}({shape})."
    word, value = next(iter(wrong.items()))
    begin = f"{name}: there is no argument {word!r}; "
    if argument := argument_meant(word, takes):
        one = (word, argument) == ("seed", "seeds")  # `seeds=3` would be three of them
        return f"{begin}did you mean {argument}={_brief_value([value] if one else value)}?"
    if word in NOT_HERE:
        return f"{begin}{NOT_HERE[word]}."
    found = {option_meant(each): value for each, value in wrong.items()}
    options = {option: value for option, value in found.items() if option}
    if option := option_meant(word):
        if (short := option.rpartition(".")[2]) in takes:
            return f"{begin}did you mean {short}={_brief_value(value)}?"
        return f"{begin}it is an option: {_as_options(name, takes, options)}."
    listed = ", ".join(takes) or "none"
    return begin + (did_you_mean(word, takes) or f"its arguments are {listed}.")


def _brief(parameter: inspect.Parameter) -> str:
    if parameter.default is inspect.Parameter.empty:
        return parameter.name
    return f"{parameter.name}={_brief_value(parameter.default)}"


def _brief_value(value: object) -> str:
    text = shown(value)
    return text if len(text) <= _LONGEST_VALUE else "..."


def _as_options(name: str, takes: list[str], options: Mapping[str, Any]) -> str:
    """How to give options to a call."""
    if "changes" in takes or "options" in takes:
        return f"{name.rpartition('.')[2]}({_dict(options)})"
    made = f"ds.Config().replace({_dict(options)})"
    return f"pass config={made}" if "config" in takes else made


def _dict(options: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f'"{name}": {shown(value)}' for name, value in options.items()) + "}"

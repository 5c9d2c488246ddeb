"""Errors about input: one sentence that says what is wrong and how to go on.

Every mistake in the input (an option, a file, a name on the command line) raises a
`DynascopeError`. Its text must be clear by itself, because the command line prints it without a
traceback: it names the field, what was expected, what came instead and, if we can guess, what was
meant.
"""

import difflib
from collections.abc import Iterable

from dynascope.printing import printable

_LONGEST_VALUE = 80  # characters of a value that a sentence can carry and still be read
_LONGEST_LIST = 20  # names of a list of choices


class DynascopeError(ValueError):
    """Bad input; the text is one sentence for the person who gave it."""

    code = 2  # the command's exit code

    def __init__(self, *sentence: object) -> None:
        super().__init__(*map(printable, sentence))  # a traceback is printed as it is


class UnknownNameError(DynascopeError, KeyError):
    """No entry of a mapping has this name."""

    __str__ = Exception.__str__  # a KeyError would show its text in quotes


class OutOfRangeError(DynascopeError, IndexError):
    """A sequence has fewer entries."""


class Description(str):
    """Our words for what came instead, which stand in a sentence without quotes.

    >>> print(expected("start", "weights for every seed", Description("none for seed 3")))
    start: expected weights for every seed, but got none for seed 3.
    """

    __slots__ = ()

    __repr__ = str.__str__


def expected(field: str, what: str, got: object, hint: str = "") -> DynascopeError:
    """The error for a value that its field cannot take; `hint` says how to go on.

    >>> print(expected("model.dim", "a whole number from 1 to 1024", -3))
    model.dim: expected a whole number from 1 to 1024, but got -3.
    """
    sentence = f"{field}: expected {what}, but got {shown(got)}"
    if hint:
        sentence += f"; {hint}"
    return DynascopeError(sentence if sentence.endswith("?") else sentence + ".")


def none_given(field: str, what: str) -> DynascopeError:
    """The error for an empty list.

    >>> print(none_given("seeds", "seed"))
    seeds: give at least one seed.
    """
    return DynascopeError(f"{field}: give at least one {what}.")


def unknown(
    where: str, name: object, choices: Iterable[str], kind: str = "option"
) -> DynascopeError:
    """The error for a name that does not exist in `where` (empty: at the top).

    >>> print(unknown("model", "activaton", ["dim", "activation"]))
    model.activaton: unknown option; did you mean 'activation'? (options: dim, activation)
    """
    names = list(choices)
    plain = isinstance(name, str) and name.isprintable() and 0 < len(name) <= _LONGEST_VALUE
    path = f"{where}.{name}" if where else str(name)
    subject = path if plain else f"{where or 'name'}: {shown(name)}"
    meant = did_you_mean(name, names)
    if meant and len(names) > _LONGEST_LIST:  # a long list would hide a good guess
        return DynascopeError(f"{subject}: unknown {kind}; {meant}")
    options = f"({kind}s: {_listed(names)})"
    if meant:
        return DynascopeError(f"{subject}: unknown {kind}; {meant} {options}")
    return DynascopeError(f"{subject}: unknown {kind} {options}.")


def did_you_mean(name: object, choices: Iterable[str]) -> str:
    """A question that offers the nearest of `choices`, or nothing when none is near.

    Case and an option's dashes are ignored, and the last part of a dotted choice is enough.

    >>> did_you_mean("GELU", ["relu", "gelu"])
    "did you mean 'gelu'?"
    >>> did_you_mean("dim", ["model.dim", "model.hidden"])
    "did you mean 'model.dim'?"
    """
    if not isinstance(name, str):
        return ""
    by_key: dict[str, str] = {}
    for choice in choices:
        by_key[_key(choice)] = choice
        by_key.setdefault(_key(choice.rpartition(".")[2]), choice)
    near = difflib.get_close_matches(_key(name), by_key, n=1)
    return f"did you mean {by_key[near[0]]!r}?" if near else ""


def _key(name: str) -> str:
    return name.casefold().lstrip("-")  # dashes, alike in all options, would make any two similar


def shown(value: object) -> str:
    """`repr(value)` on one line, cut to what a sentence can carry."""
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):  # an int of thousands of digits; lists in lists in lists
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."


def _listed(names: list[str]) -> str:
    rest = len(names) - _LONGEST_LIST
    return ", ".join(names[:_LONGEST_LIST]) + (f" and {rest} more" if rest > 0 else "")

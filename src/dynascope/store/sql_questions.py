"""Which SQL statements are questions: the others are refused before anything is run or planned.

DuckDB says of what kind a statement is without binding it. Where one kind covers more than is
wanted, the statement's first words decide. The connection reaches nothing anyway; this is so that
a statement that cannot work is refused by its kind, in a sentence, not by what it stumbles over.
"""

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from dynascope.errors import DynascopeError, expected, shown

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

_BLANK = re.compile(r"(?:\s|;|--[^\n]*|/\*.*?\*/)+", re.DOTALL)
_EXPLAIN = re.compile(r"EXPLAIN\s+(ANALY[SZ]E\b\s*)?(\([^()]*\)\s*)?", re.IGNORECASE)
_CREATED = re.compile(
    r"CREATE\s+(OR\s+REPLACE\s+)?(TEMP\s+|TEMPORARY\s+)?(TABLE|VIEW|MACRO|FUNCTION|TYPE)\b",
    re.IGNORECASE,
)
_PIVOTED = re.compile(r"\(*\s*(PIVOT|UNPIVOT|PIVOT_WIDER|SELECT|FROM|WITH)\b", re.IGNORECASE)


class Statement(NamedTuple):
    """A statement that may be run."""

    kind: str  # DuckDB's name for it; SELECT is also DESCRIBE, SHOW, SUMMARIZE and VALUES
    text: str


def questions(connection: "Connection", sql: str) -> list[Statement]:
    """The statements of a text: questions, and before the last one also what these build on."""
    statements = _parsed(connection, sql)
    if not statements:
        raise expected("query", "an SQL query", sql)
    for at, statement in enumerate(statements):
        helps = at < len(statements) - 1 and _helps(statement)
        if not helps and not _asks(connection, statement):
            raise _refused(statement)
    return statements


def _parsed(connection: "Connection", sql: str) -> list[Statement]:
    return [Statement(_kind(each), each.query) for each in connection.extract_statements(sql)]


def _kind(statement: Any) -> str:
    try:
        return str(statement.type.name)
    except ValueError:  # DuckDB has kinds (UPDATE EXTENSIONS) that its Python side has no name for
        return "OTHER"


def _asks(connection: "Connection", statement: Statement) -> bool:
    if statement.kind == "EXPLAIN":
        inner, found = _EXPLAIN.subn("", _begin(statement.text), count=1)
        explained = _parsed(connection, inner) if found else []
        return [each.kind for each in explained] in (["SELECT"], ["MULTI"])
    if statement.kind == "MULTI":  # PIVOT, which DuckDB makes several of
        return _PIVOTED.match(_begin(statement.text)) is not None
    return statement.kind == "SELECT"


def _helps(statement: Statement) -> bool:
    """Whether this makes a table, view, macro or type, all of which are gone with the answer."""
    return _CREATED.match(_begin(statement.text)) is not None


def _begin(text: str) -> str:
    """The statement without blanks and comments before it."""
    blank = _BLANK.match(text)
    return text[blank.end() :] if blank else text


def _refused(statement: Statement) -> DynascopeError:
    if _helps(statement):
        return DynascopeError(
            f"query: {shown(_begin(statement.text))} answers nothing; add a SELECT after it."
        )
    word = re.match(r"\w+", _begin(statement.text))
    return expected(
        "query",
        "a question: SELECT, FROM, WITH, VALUES, PIVOT, DESCRIBE, SHOW, SUMMARIZE or EXPLAIN, and "
        "before it CREATE TABLE, VIEW, MACRO or TYPE",
        word[0].upper() if word and len(word[0]) < 30 else statement.text,
    )

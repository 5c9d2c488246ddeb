"""Words that people are not to read, since another one means the same; or since it is wrong.

Names in files and in code stay: `suffix_share` is a column for good.
"""

import re

# What is not said, with what is said instead.
BANNED = {
    r"suffix(es)?": "irrelevant tokens: they need not come last",
    r"prefix(es)?": "relevant tokens: they need not come first",
    r"to blame": "culprits",
    r"look again": "reload",
}
_BANNED = re.compile("|".join(rf"\b(?:{word})\b" for word in BANNED), re.IGNORECASE)


def banned(text: str) -> list[str]:
    """The banned words in a text, each with some of what stands around it."""
    return [text[max(0, m.start() - 30) : m.end() + 30] for m in _BANNED.finditer(text)]

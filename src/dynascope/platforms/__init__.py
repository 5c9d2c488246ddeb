"""What Linux, macOS and Windows do differently: the one place that asks which of them this is.

`system` is the module of the system at hand. Both modules have the same names with the same
meaning, so callers never ask. Where Windows has no equal of something, `windows` says what is
weaker. No other package imports a module that only some systems have; a test holds that.
"""

import sys

if sys.platform == "win32":
    from dynascope.platforms import windows as system
else:
    from dynascope.platforms import posix as system

__all__ = ["system"]

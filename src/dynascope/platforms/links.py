"""Whether a name leads elsewhere: a symbolic link, or what Windows has besides."""

import os
import stat

# In the tag of a reparse point: it stands for another name (links, junctions, mounted folders).
# Tags without it are other matters (files that are compressed, or kept in a cloud), not links.
_NAME_SURROGATE = 0x20000000


def is_link(about: os.stat_result) -> bool:
    """Of what `lstat` says about a name. To Python a junction is a folder, not a link."""
    return stat.S_ISLNK(about.st_mode) or bool(
        getattr(about, "st_reparse_tag", 0) & _NAME_SURROGATE
    )

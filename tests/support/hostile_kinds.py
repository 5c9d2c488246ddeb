"""Kinds of hostile stores by name: each changes one part of a store, which is then signed again."""

import hostile_beside  # noqa: F401  each of them adds its own
import hostile_footers  # noqa: F401
import hostile_rows  # noqa: F401
import hostile_tensors  # noqa: F401
from hostile_values import KINDS as KINDS

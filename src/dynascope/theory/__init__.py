"""Models that theory gives: built, not trained."""

from dynascope.theory.ideal import Head as Head
from dynascope.theory.ideal import ideal_head as ideal_head

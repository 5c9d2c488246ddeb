"""The interval of a share: what so many successes of so many trials say about the rest.

Needs the standard library alone: reports, figures and studies use it, and none should wait for
SciPy.
"""

import math
from statistics import NormalDist

_STANDARD = NormalDist()


def wilson(successes: int, trials: int, error: float = 0.05) -> tuple[float, float]:
    """Wilson's interval (1927), which misses the truth with probability `error`; it is right for
    few trials and for 0 and 1 too. Without trials a share may be anything.

    >>> [round(bound, 3) for bound in wilson(9, 20)]
    [0.258, 0.658]
    >>> wilson(0, 10)[0], wilson(10, 10)[1], wilson(0, 0)
    (0.0, 1.0, (0.0, 1.0))

    The ends are exactly 0 and 1 where all trials went one way, and nowhere else.
    """
    if not trials:
        return 0.0, 1.0
    z = -_STANDARD.inv_cdf(error / 2)  # from the left, where small errors keep their digits
    share, scale = successes / trials, 1 + z * z / trials
    middle = (share + z * z / (2 * trials)) / scale
    reach = z * math.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2) / scale
    return middle - reach if successes else 0.0, middle + reach if successes < trials else 1.0

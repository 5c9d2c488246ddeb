"""How heavy and how alike the assemblers are: what makes a feed-forward steep.

The paper explains some loss spikes by assemblers (columns of U, what each hidden unit adds to the
output) that are heavy, or small but heavily correlated, so that a small change of the input adds up
to a large one of the output.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynascope.analysis.checks import check_fit
from dynascope.config_input import ConfigLike
from dynascope.near_misses import guided
from dynascope.parameters import Parameters

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Assemblers:
    """The lengths of the assemblers u, and the directions that they share.

    - `heaviness`: the length of the heaviest over the median length; None where that is 0.
    - `correlation`: the mean cosine between two assemblers, each pair weighted by the product of
      their lengths: 1 where all point the same way, near 0 where they cancel.
    - `largest`: the largest u_i . u_j of a `pair`, over |u|^2 of the heaviest: the cosine, with
      each of the two weighted by its length as a part of the heaviest's.

    None where there are no two assemblers that are not 0.
    """

    lengths: Array  # [hidden]
    heaviest: int  # its unit
    heaviness: float | None
    correlation: float | None
    largest: float | None
    pair: tuple[int, int] | None


@guided
def assemblers(parameters: Parameters, config: ConfigLike) -> Assemblers:
    """How heavy and how alike the assemblers of a model are.

    >>> import dynascope as ds
    >>> config = ds.Config().replace({"model.hidden": 3})
    >>> parameters = ds.initial_parameters(config)
    >>> parameters.assemblers = [[4, 2, 0], [0, 0, 1]]
    >>> found = assemblers(parameters, config)
    >>> found.heaviest, found.heaviness, found.pair, found.largest
    (0, 2.0, (0, 1), 0.5)
    """
    fitting, _ = check_fit(parameters, config)
    vectors = fitting.assemblers.T.astype(float)  # [hidden, dim]
    lengths = np.linalg.norm(vectors, axis=1)
    heaviest, median = int(lengths.argmax()), float(np.median(lengths))
    several = np.count_nonzero(lengths) > 1
    largest, pair = _largest(vectors, lengths) if several else (None, None)
    return Assemblers(
        lengths=lengths,
        heaviest=heaviest,
        heaviness=float(lengths[heaviest]) / median if median else None,
        correlation=_mean_cosine(vectors, lengths) if several else None,
        largest=largest,
        pair=pair,
    )


def _mean_cosine(vectors: Array, lengths: Array) -> float:
    """Over ordered pairs: the squares of the sums, less what each makes with itself."""
    own = float((lengths**2).sum())
    together, apart = vectors.sum(axis=0), float(lengths.sum())
    return (float(together @ together) - own) / (apart**2 - own)


def _largest(vectors: Array, lengths: Array) -> tuple[float, tuple[int, int]]:
    """The largest product of a pair, over the square of the largest length.

    From the heaviest on, until no pair of lighter ones could be larger: of thousands of units only
    a few need to be looked at.
    """
    order = np.argsort(-lengths, kind="stable")
    scale = lengths[order[0]]
    sizes, units = lengths[order] / scale, vectors[order] / scale
    best, pair = -np.inf, (0, 1)
    for i in range(len(units) - 1):
        if sizes[i] * sizes[i + 1] <= best:
            break
        products = units[i + 1 :] @ units[i]
        j = int(products.argmax())
        if products[j] > best:
            best, pair = float(products[j]), (i, i + 1 + j)
    first, second = sorted(int(order[at]) for at in pair)
    return best, (first, second)

"""How many multiplies and adds a run takes, to compare our speed with the machine's peak.

Counted is what the kernel does in float32 with norm `rms` and Adam, one operation per number: each
+, -, *, / and square root is one (the last two take a machine far longer, so the shares that come
out are low rather than high). Not counted: comparisons, selections, integer and bit operations,
look-ups, loads, stores, shuffles of the data, lanes that only fill up a vector. With R rows of E:

    table, per (token, position), once per step:                    kernel/table.hpp
      forward    d (E + P)  + norm  + 2d + 1 (score)  + 1 + exp  + 2d^2 (V z)  + d (times w)
      backward   3d + 2 (d value, d score)  + 2d (dq)  + 2d^2 (dV)  + 2d^2 + 2d (dz)
                 + norm backward  + 2d (dE, dP)
    sequence, forward:                                              kernel/model.hpp
      attend     N (d + 1) (sums of table entries)  + 1 + d (division)  + norm
      hidden     h (2d + activation + 2d)  + d (residual)
      decode     2dR (logits)  + R (2 + exp)  + log + 2 (loss)  + 1 + 3R (error)
    sequence, backward:
      decode     2dR (d psi)  + 2dR (dE)  + d (db2)
      hidden     h (2d - 1 (d hidden)  + 1 (slope)  + 1 (db1)  + 2d (dW)  + 2d (dU)  + 2d (dx))
      attend     norm backward  + 4d + 2 (d sums)  + N (d + 1) (into the table)
    weight, per step:  2 (gradient norm)  + 14 (Adam)               kernel/optimizer.hpp

    norm      2d (square) + 1 (root) + 5 (gain and bend) + d        kernel/normalize.hpp
    backward  3d + 1 + 3d

    run = epochs * (steps * (pN table + weights * 16) + n (forward + backward)
                    + pN table forward + distinct * forward)

The last line is the evaluation: each distinct sequence of train and test set is computed once, and
`distinct` is the expected number of them, S (1 - (1 - 1/S)^(n + n_test)) with S = p^N.
"""

import math

import dynascope as ds


def polynomial(coefficients: int) -> int:
    """Horner's rule: a multiply and an add for each coefficient after the first."""
    return 2 * (coefficients - 1)


# kernel/math.hpp, float32. In the order of the source: scaling, rounding, remainder, polynomial.
EXP = 2 + 1 + 4 + (3 + polynomial(5) + 1) + 1
LOG = 1 + 3 + 1 + (2 + polynomial(3) + 2) + 4
NORMAL_TAIL = 2 + 1 + 2 + (polynomial(6) + 1) + (polynomial(3) + 1 + polynomial(5) + 1)
VALUE = {"gelu": NORMAL_TAIL + 2, "relu": 0, "silu": EXP + 4}
SLOPE = {"gelu": 4, "relu": 0, "silu": 4}  # on top of the value's

WEIGHT = 2 + 14


def norm_forward(d: int) -> int:
    return 2 * d + 1 + 5 + d


def norm_backward(d: int) -> int:
    return 3 * d + 1 + 3 * d


def table_forward(d: int) -> int:
    return d + norm_forward(d) + (2 * d + 1) + (1 + EXP) + 2 * d * d + d


def table_backward(d: int) -> int:
    return (3 * d + 2) + 2 * d + 2 * d * d + (2 * d * d + 2 * d) + norm_backward(d) + 2 * d


def forward(config: ds.Config, activation: int) -> int:
    """Operations of one sequence, given those of one activation."""
    length, d, h, rows = _sizes(config)
    attend = length * (d + 1) + 1 + d + norm_forward(d)
    hidden = h * (4 * d + activation) + d
    decode = 2 * d * rows + rows * (2 + EXP) + (LOG + 2) + (1 + 3 * rows)
    return attend + hidden + decode


def backward(config: ds.Config) -> int:
    """Operations of one sequence; each hidden unit's are 8d + 1."""
    length, d, h, rows = _sizes(config)
    decode = 4 * d * rows + d
    attend = norm_backward(d) + (4 * d + 2) + length * (d + 1)
    return decode + h * (8 * d + 1) + attend


def distinct(config: ds.Config) -> float:
    """How many different sequences the two sets hold, on average.

    >>> round(distinct(ds.Config()))
    2589
    """
    drawn = config.task.train_size + config.task.test_size
    return -config.task.sequences * math.expm1(drawn * math.log1p(-1 / config.task.sequences))


def per_epoch(config: ds.Config) -> float:
    """Operations of one epoch with its evaluation.

    >>> f"{per_epoch(ds.Config()):.3g}"
    '8.43e+06'
    """
    task, d = config.task, config.model.dim
    steps = math.ceil(task.train_size / config.training.batch)
    entries = task.vocab * task.length
    weights = sum(math.prod(shape) for shape in config.shapes.values())
    step = entries * (table_forward(d) + table_backward(d)) + weights * WEIGHT
    value, slope = VALUE[config.model.activation], SLOPE[config.model.activation]
    learned = forward(config, value + slope) + backward(config)
    tested = forward(config, value)
    evaluation = entries * table_forward(d) + distinct(config) * tested
    return steps * step + task.train_size * learned + evaluation


def _sizes(config: ds.Config) -> tuple[int, int, int, int]:
    return config.task.length, config.model.dim, config.model.hidden, config.embeddings

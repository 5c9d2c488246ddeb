"""Every threshold of the curvature of runs, in one place, each with its reason.

All results carry the numbers that were compared with these.
"""

# ---- spectra ------------------------------------------------------------------------------------
DENSE_WEIGHTS = 2000  # weights of a model: up to here the whole matrix; eigh of it takes seconds
ROUNDING = 1.0  # times n eps max|eigenvalue|: LAPACK's errors stay below it
FLOOR = 10.0  # times what known zero directions show: they are a few of the n directions
ASYMMETRY = 1e-6  # of the largest entry: more is no rounding of a symmetric matrix
LANCZOS_TOLERANCE = 1e-6  # residual of an eigenpair, of its eigenvalue: which errs by less
LANCZOS_STEPS = 300  # restarts at most; what has not converged by then is left out
LANCZOS_MOST = 200  # eigenvectors at one end: of more, the whole matrix would cost less
PROBES = 32  # of a trace by Hutchinson: its standard error is given
INDEPENDENT = 1e-9  # of the longest: a direction shorter than that, besides the others, is none

# ---- saddles ------------------------------------------------------------------------------------
PLATEAU_EPOCHS = 64  # at most, whose gradient norms are compared: a norm takes a millisecond or so
REPLAYED_EPOCHS = 8  # computed again where fewer were kept: enough to find a quiet one
TRANSIENT = 1.01  # times the loss at chance: the way down to chance is over
SMALL_GRADIENT = 0.1  # of the largest in the drop that follows: a hundredth of its rate of fall
GROWTH = 1.0  # e-foldings within the plateau: a direction that grows less has had no time to act
ALIGNED_SHARE = 0.5  # of the squared escape along five directions: most of it
ALIGNED_CHANCE = 1e-3  # probability of as much in a random direction
LINE_POINTS = 41  # losses along the most negative direction, both ways
LINE_NEAR = 1e-3  # of the farthest: the nearest of them
LANCZOS_DIRECTIONS = 20  # lowest ones, of a model that is too large for the whole matrix

"""Every threshold of the analysis, in one place, each with its reason.

Whoever disagrees with a verdict finds here what decided it. All results carry the numbers that were
compared with these.
"""

# ---- circuit ------------------------------------------------------------------------------------
ROUNDING = 1e-28  # of the mean square: a variance below it is rounding, that is none at all
INVARIANT_SHARE = 0.95  # between multisets: solved default runs have below 0.6 or above 0.98
RELEVANT_ATTENTION = 0.9  # of all attention: the rest is too little to tell tokens by
CLEAR_GAP = 3.0  # distances between clusters over those within; 59 of 60 untrained have below 2.5
CULPRIT_SHARE = 0.01  # of the variance of sequence embeddings: a position that makes as much

# ---- kept_sum -----------------------------------------------------------------------------------
SUM_SHARE = 0.98  # corrected, between values of a sum; 400 untrained models had at most 0.97

# ---- sum_progress -------------------------------------------------------------------------------
# Heights of clustering and of the accuracy at which the order of both is told: it depends on them.
LEAD_PAIRS = ((0.5, 0.5), (0.9, 0.5), (0.5, 0.1), (0.9, 0.1))

# ---- phases -------------------------------------------------------------------------------------
# Drops of the train loss; set by eye on 120 curves (mini batch, full batch at two learning rates).
DROP_SIZE = 0.1  # of the log of the loss: a tenth less loss; smaller falls only show when zoomed in
DROP_RATE = 0.001  # of the log of the loss, per epoch: slower is drift, a halving in 700 epochs
DROP_SHOULDER = 0.25  # of the rates before and after: so much slower parts one drop from the next
DROP_PLATEAU = 10  # epochs: a shorter halt is part of the drop it interrupts
DROP_NOISE = 3.0  # standard deviations of the noise around it that a drop must stand out by
DROP_NEAR = 50  # epochs on both sides of a drop whose noise is "around it"
DROP_FLOOR = 0.01  # of the loss at chance: below, all is fitted and only the confidence grows
DROP_LEAST = 30  # epochs: shorter curves have no room for a plateau, a drop and a plateau
DROP_POINTS = 2048  # longer curves are judged by the medians of that many blocks, as the eye would
DESPIKE_WINDOW = 7  # epochs of the running median: spikes of three epochs vanish, steps stay sharp
SMOOTH_EPOCHS = 3.0  # standard deviation of the Gaussian, methods "slope" and "shelves"
RATE_REACH = 5  # epochs on both sides over which a rate is taken
STEP_PENALTY = 0.01  # method "change": a step of 0.05 held for 8 epochs pays for its change point
STEP_NOISE = 15.0  # ... or this many variances of the noise: 2 log n for 2000 epochs of white noise
STEP_LEAST = 5  # epochs between two change points
# Method "shelves"; set on 60 curves whose drops were marked by eye, where 0.6 to 0.8 and 8 to 10
# epochs agree nearly as well.
SHELF_RATE = 0.7  # of the lower one of the peaks beside: slower is a shelf between two drops
SHELF_LEAST = 8  # epochs, three of them from smoothing: a shorter shelf is a kink in one drop
DROP_APART = 10  # epochs: drops found by two methods are one at this distance
DROP_SCALES = (0.5, 1.0, 2.0)  # of size and rate: do the counts hang on the thresholds?
# Rises of the between share and of the accuracy.
RISE_SIZE = 0.1  # of a share or accuracy: less is not a rise (chance moves an accuracy by 0.02)
RISE_TAIL = 0.05  # of the epochs, the last ones, whose median is the final level
RISE_TAIL_VALUES = 11  # values, at most, spread over that tail
RISE_REACH = 5  # epochs on both sides in the running median: dips of five epochs do not count
RISE_DONE = 0.9  # of the rise: what a snapshot shows as risen
RISE_COARSE = 64  # shares that are measured before the search narrows

# ---- spikes -------------------------------------------------------------------------------------
# Detection. The first four are not ours: they restate published definitions.
SPIKE_SCORE_SIGMAS = 7.0  # OLMo 2: standard deviations from the rolling mean
SPIKE_SCORE_WINDOW = 1000  # OLMo 2: previous values in that mean
SKIP_STEP_SIGMAS = 6.0  # OLMo-core's skip-step optimizer: standard deviations above the mean
SKIP_STEP_WINDOW = 128  # OLMo-core; it judges nothing before half of them are there
SPIKE_SCORE_LEAST = 64  # previous values; OLMo 2 names no number, so OLMo-core's
SPIKE_WINDOW = 32  # previous values: few enough to follow a decay, half of them outvote a spike
SPIKE_LEAST = 16  # previous values: fewer have no median deviation to speak of
SPIKE_DEVIATIONS = 8.0  # mini-batch noise reaches 6 to 8 scaled MADs every few hundred epochs
SPIKE_RISE = 1.3  # times the recent median: what is seen on a plateau (log 2 rises to 0.9)
SPIKE_ALWAYS = 10.0  # times the recent median: a spike however noisy the curve was before
SPIKE_RECOVERED = 1.3  # times the level before: as near as the rise that makes a spike
SPIKE_SMALL = 2.0  # times the recent median: a lower spike is marked as small
TANDEM_REACH = 10  # epochs on both sides of a spike in which loss and gradient norm are compared
TANDEM_LAGS = 5  # epochs: farther apart, two rises are not one event
# Causes. "Usual" is the median over the steps before the rise, for as many steps as the rise takes.
SPIKE_STEPS = 128  # steps of history, and of the stretch in which a rise is looked for
SPIKE_HISTORY = 768  # steps at most: 256 displacements of 512 steps, which the longest rise has
SPIKE_BYTES = 2**26  # of weights, step by step: then history is shorter, and fewer epochs looked at
SPIKE_REACH = 32  # epochs, at most, from the beginning of a rise to the peak that it is followed to
SPIKE_BACK = 32  # epochs, at most, to go back for steps that belong to no other spike
SPIKE_EDGE = 0.05  # of the rise: a slow creep before it and a flat top after it are not the rise
SPIKE_MOMENTUM = 10  # steps, 1 / (1 - beta1): a long step moves the weights for so many more
SPIKE_SAMPLES = 9  # displacements of the history that are followed through the model
SPIKE_SEQUENCES = 256  # the worst hurt, in each of these and in the rise, are looked at closely
SPIKE_LEAST_HISTORY = 8  # displacements: of fewer, nothing is usual
SPIKE_AMPLIFIED = 3.0  # times the usual; stretches without a spike reach 2 now and then
SPIKE_LONGER = 3.0  # times the usual; ordinary mini-batch stretches reach 2.5 at times
SPIKE_REMOVED = 0.5  # share of the rise that goes when a cause is taken away: most of it
SPIKE_SHARE = 0.5  # of the largest cause's ratio, in logarithms: 5 is dwarfed by 100, not by 20
# Interventions: the epoch of the rise once more, with something taken away.
SPIKE_REMAINS = 0.5  # of the rise: less than that left, the intervention confirms a cause
SPIKE_HELD = 80  # epochs: second moments are held at their largest since then; it decays in 16
SPIKE_ORDERS = 10  # other orders of the same batches: enough to tell "few" from "most"
SPIKE_EARLIER = 12  # epochs: an unstable state has been built up since, the batches' luck has not
SPIKE_SAME = 0.01  # of the loss: another norm that changes it by more at once is another model
SPIKE_NUDGE = 1e-3  # of each weight, at random: as much as one step of the default changes it
SPIKE_EDITS = 2**27  # steps times sequences: to change the state after each takes a second there
SPIKE_LOOKS = 16  # losses of another order, at most, spread over its steps

# ---- sparsity -----------------------------------------------------------------------------------
SPARSITY_RANGE = (1e-5, 1e2)  # the paper's
SPARSITY_POINTS = 57  # eight to a decade: the curve looks smooth
SPARSITY_DECADES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)  # a column each, in that range
SPARSITY_ALL = 2**16  # sequences: up to here columns are exact; 3**12 take as long as training
SPARSITY_SAMPLE = 4096  # else: the share of each unit has a standard error of at most 0.008

# ---- attention ----------------------------------------------------------------------------------
ATTENTION_ALL = 2**16  # sequences: up to here a map is exact; all of 2**20 take some 7 s
ATTENTION_SAMPLE = 4096  # else: a mean of numbers in [0, 1] has a standard error of at most 0.008
ATTENTION_OTHERS = 19  # seeds whose start maps are compared: a p-value of 1/20 at the least
ATTENTION_EVEN = 1e-9  # of attention: tokens that differ by less are equally preferred

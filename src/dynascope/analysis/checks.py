"""What a measure asks first: do parameters go with a config, and is an epoch there to look at."""

from collections.abc import Iterable

import numpy as np

from dynascope.analysis.run_epochs import last_sound_epoch
from dynascope.config import Config
from dynascope.config_input import check_config
from dynascope.errors import Description, DynascopeError, expected
from dynascope.parameters import Parameters, check_parameters
from dynascope.run import Run, Runs


def check_fit(
    parameters: object, config: object, field: str = "parameters"
) -> tuple[Parameters, Config]:
    """Parameters and config, once it is sure that the former are a finite model of the latter.

    >>> import dynascope as ds
    >>> try:
    ...     check_fit(ds.initial_parameters(ds.Config()), ds.Config().replace({"model.dim": 3}))
    ... except ds.DynascopeError as error:
    ...     print(error)
    parameters.token_embedding: expected shape (2, 3), but got (2, 2).
    """
    config = check_config(config)
    checked = check_parameters(parameters, field)
    wanted, got = config.shapes, checked.shapes
    for name in (*wanted, *got):
        if name not in got:
            raise expected(f"{field}.{name}", f"shape {wanted[name]}", Description("none"))
        if name not in wanted:
            raise expected(
                f"{field}.{name}", "none, as model.bias is off", Description(f"shape {got[name]}")
            )
        if got[name] != wanted[name]:
            raise expected(f"{field}.{name}", f"shape {wanted[name]}", got[name])
    return checked, config


def check_run(run: object, field: str = "run") -> Run:
    if not isinstance(run, Run):
        hint = "call it for each run, as in runs[0]" if isinstance(run, Runs) else ""
        raise expected(field, "a ds.Run", Description(type(run).__name__), hint)
    return run


def is_one(epochs: object) -> bool:
    """Whether this is an epoch, not several."""
    if isinstance(epochs, np.ndarray):
        return epochs.ndim == 0
    return not isinstance(epochs, Iterable)


def sound_epoch(run: Run, epoch: int) -> int:
    """The epoch, -1 being the last before a divergence; refused from the divergence on."""
    if run.diverged == 0:
        raise DynascopeError(
            f"run {run.id}: there is no epoch to measure, as it diverged at epoch 0."
        )
    if isinstance(epoch, np.integer | np.ndarray) and np.ndim(epoch) == 0:
        epoch = epoch.item()  # of NumPy, as from np.arange
    if isinstance(epoch, int) and epoch == -1:
        return last_sound_epoch(run)
    if run.diverged is not None and isinstance(epoch, int) and epoch >= run.diverged:
        what = f"a whole number from 0 to {last_sound_epoch(run)}"
        raise expected("epoch", f"{what} (the run diverged at epoch {run.diverged})", epoch)
    return epoch


def sound_parameters(run: Run, epoch: int) -> Parameters:
    """The weights after a sound epoch of a run."""
    return check_fit(run.parameters(sound_epoch(run, epoch)), run.config)[0]

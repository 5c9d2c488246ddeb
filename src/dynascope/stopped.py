"""A run that was stopped on its way, as it is kept.

Where training does not depend on how long it was to last, the epochs that are done are a run of
their own, that of a config with so many epochs. Under a schedule that ends with the run (cosine)
they are not: the run keeps its planned config and with it its id, and ends before its last epoch.
So does one that records steps, whose config may need the later epochs.
Either way `Run.continued` and `dynascope train` go on with it, to the bits of one go.
"""

from dataclasses import fields

from dynascope.run import Run

STOPPED = "stopped"  # the tag that such a run has in a store


class StoppedRun(Run):
    """A run that ends before the epoch that was planned."""

    tags = (STOPPED,)  # a store writes them down with the run


def as_stopped(run: Run) -> StoppedRun:
    """The run of a trainer that will not get to its last epoch."""
    values = {field.name: getattr(run, field.name) for field in fields(Run)}
    # Steps to record may lie further on: such a run stays a part of the planned one to its end, so
    # that all parts of a run are named alike.
    if not run.has_fixed_length and run.config.record.steps is None:
        values["config"] = run.config.replace({"training.epochs": run.epochs})
    return StoppedRun(**values)

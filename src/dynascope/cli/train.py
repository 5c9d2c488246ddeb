"""`dynascope train`: runs of chosen seeds, fresh ones, fine-tuned ones, or one that goes on."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable

from dynascope.cli.address import resolve
from dynascope.cli.arguments import number
from dynascope.cli.options import configured, listing
from dynascope.cli.resume import Destination, destination
from dynascope.cli.train_and_save import Outcome, train_and_save
from dynascope.config import Config
from dynascope.engine import Job, count_threads, jobs_of, train_jobs
from dynascope.errors import DynascopeError, expected
from dynascope.findings.words import many
from dynascope.printing import print
from dynascope.run import Run, Runs
from dynascope.seeds import parse_seeds

_NAMED = 4  # runs that a sentence can list

ABOUT = """\
Train one run per seed. A seed gives the same weights on every machine and with
any number of threads. Ctrl-C (or closing the terminal) stops early and keeps
the runs that are finished, and the others up to the last epoch that was done.
The same command goes on from there."""

EXAMPLES = """\
A RUN is FOLDER#seed=3 or FOLDER#ID, where the beginning of an id is enough, or
just FOLDER if it holds a single run; RUN@250 is that run at epoch 250.

examples:
  dynascope train --seeds 100 --out runs/first
  dynascope train --seeds 3,5,8 --set model.dim=3 --set training.lr=1e-2
  dynascope train --options > my.toml; dynascope train --config my.toml
  dynascope train --from runs/first#seed=15 --set task.vocab=3 --out runs/more
  dynascope train --from runs/first#seed=15 --continue --epochs 2000 --out on
"""


def add_options(train: ArgumentParser) -> None:
    what = train.add_argument_group("what to train")
    what.add_argument(
        "--seeds",
        help="how many (20 means 0 to 19), or which: 3,5,8 or 10-19; for one alone, end with "
        "a comma: 7, (default: 1, or with --from the seed of that run)",
    )
    what.add_argument("--config", metavar="FILE", help="options from a TOML file")
    what.add_argument(
        "--set",
        metavar="NAME=VALUE",
        dest="settings",
        action="append",
        default=[],
        help="one option, such as model.dim=3; may be repeated",
    )
    what.add_argument(
        "--epochs",
        metavar="N",
        dest="settings",
        action="append",
        type=lambda text: f"training.epochs={text}",  # so the last of --epochs and --set counts
        help="short for --set training.epochs=N",
    )
    what.add_argument(
        "--options",
        action="store_true",
        help="train nothing: print all options and their values, as a file for --config",
    )
    source = train.add_argument_group("starting from another run")
    source.add_argument(
        "--from",
        metavar="RUN[@EPOCH]",
        dest="source",
        help="fine-tune from its weights; options that you do not set are that run's",
    )
    source.add_argument(
        "--continue",
        dest="go_on",
        action="store_true",
        help="with --from: train past its last epoch instead, up to --epochs in total",
    )
    how = train.add_argument_group("how")
    how.add_argument("--threads", metavar="N", type=number, help="(default: one for each core)")
    how.add_argument(
        "--out",
        metavar="FOLDER",
        help="keep the runs in a new folder, or go on in the one where this command was stopped",
    )
    how.add_argument("--quiet", action="store_true", help="print nothing but errors")


def run(options: Namespace) -> int:
    """Check everything, then train, save and report."""
    if options.go_on and options.source is None:
        raise DynascopeError("--continue: expected --from RUN, the run to continue.")
    parent, epoch = resolve(options.source) if options.source is not None else (None, -1)
    if options.go_on and parent is not None:
        config = _longer(options, parent, epoch)
    else:
        config = configured(parent.config if parent else Config(), options.config, options.settings)
    if options.options:
        print(*listing(config).splitlines())
        return 0
    if options.go_on and parent is not None:
        jobs = [Job(config, parent.seed, parent.data, origin=parent.origin, begun=parent)]
    else:
        jobs = _fresh(options, config, parent, epoch)
    return _train(options, jobs)


def _train(options: Namespace, jobs: list[Job]) -> int:
    out = None if options.out is None else destination(options.out, jobs)
    left = jobs if out is None else out.left_jobs
    if out and not options.quiet:
        _announce(options, out)
    if not left:
        return 0
    outcome = train_and_save(
        lambda watch: train_jobs(
            left, count_threads(options.threads, len(left)), watch, saved=out is not None
        ),
        None if out is None else out.save,
        options.quiet,
    )
    return _report(options, outcome, jobs, out)


def _fresh(options: Namespace, config: Config, parent: Run | None, epoch: int) -> list[Job]:
    """Fresh runs; with a parent, from its weights and with its options where none are given."""
    default = [parent.seed] if parent else [0]
    seeds = default if options.seeds is None else parse_seeds(options.seeds)
    data = parent.data if parent else None
    if data and data.fit(config) != config:
        raise DynascopeError("task: the sizes must stay those of the run's own data.")
    start = parent
    if parent and epoch not in (-1, parent.diverged):
        start = parent.trainer(epoch).run  # as it was then: `train` records parent and epoch
    return jobs_of(config, seeds, data, start)


def _longer(options: Namespace, run: Run, epoch: int) -> Config:
    """The config of the same run, further: the same bits as if it had been asked for in one go."""
    for name in ("seeds", "config", "threads"):
        if getattr(options, name) is not None:
            raise DynascopeError(f"--{name}: cannot be combined with --continue.")
    if epoch not in (-1, run.epochs):
        raise expected("--continue", f"the run's last epoch, {run.epochs}", epoch)
    config = configured(run.config, None, options.settings)
    epochs = config.training.epochs
    if config != run.config.replace({"training.epochs": epochs}):
        raise DynascopeError(
            "--continue: only training.epochs can change; to fine-tune with other options, use "
            "--from without --continue."
        )
    if run.diverged is not None:
        raise DynascopeError(
            f"--continue: the run diverged at epoch {run.diverged} and cannot be continued."
        )
    if run.has_fixed_length and epochs != run.config.training.epochs:
        raise DynascopeError(
            "--continue: expected training.schedule constant or warmup, but got 'cosine', whose "
            "length is part of the run; to fine-tune from it, use --from without --continue."
        )
    if epochs <= run.epochs:
        what = f"more than the {run.epochs} that the run has"
        raise expected("training.epochs", what, epochs, "add --epochs N")
    return config


def _announce(options: Namespace, out: Destination) -> None:
    """What is there already, if anything is."""
    finished, begun = len(out.finished), [job for job in out.left_jobs if job.begun]
    parts = [f"{many(finished, 'run')} finished"] if finished else []
    if begun and out.begun:
        parts.append(f"{many(len(begun), 'run')} under way ({_epochs(job.begun for job in begun)})")
    if not parts:
        return
    rest = "training goes on from there" if out.left else "there is nothing left to train"
    print(f"{options.out} has {' and '.join(parts)}; {rest}.", file=sys.stderr)


def _epochs(runs: Iterable[Run | None]) -> str:
    told = [f"seed {run.seed} at epoch {run.epochs}" for run in runs if run]
    more = [f"{len(told) - _NAMED} more"] if len(told) > _NAMED else []
    return ", ".join([*told[:_NAMED], *more])


def _report(options: Namespace, outcome: Outcome, jobs: list[Job], out: Destination | None) -> int:
    runs, trouble = outcome.runs, outcome.trouble
    kept = len(runs) + len(outcome.partial)
    saved = options.out is not None and kept > 0 and not trouble
    if len(runs) and not options.quiet:
        from dynascope.cli.run_table import print_table, stdout, summary

        console = stdout()
        print_table(runs, console)
        console.print(f"\n{summary(runs, outcome.seconds)}")
        if saved:
            print(f"Saved {many(len(runs), 'run')} to {options.out}.")
        elif options.out is None:
            console.print("Nothing was saved; use --out FOLDER to keep the runs.")
    if outcome.stopped:
        finished = len(runs) + (len(out.finished) if out else 0)
        done = _how_far(outcome.partial, finished, jobs)
        where = trouble or "nothing was saved."
        if saved:
            where = f"saved to {options.out}. {_next_time(outcome.partial)}"
        print(f"dynascope: {outcome.stopped}; {done}, {where}", file=sys.stderr)
    elif trouble:
        print(f"dynascope: {trouble}", file=sys.stderr)
    return 1 if outcome.stopped or trouble else 0


def _how_far(partial: Runs, finished: int, jobs: list[Job]) -> str:
    """
    >>> _how_far(Runs([]), 3, [Job(Config(), seed) for seed in range(20)])
    '3 of 20 runs finished'
    """
    planned = jobs[0].config.training.epochs
    if len(jobs) == 1 and len(partial) == 1:
        return f"the run is at epoch {partial[0].epochs} of {planned}"
    done = f"{finished} of {len(jobs)} runs finished"
    if not len(partial):
        return done
    return f"{done}, {len(partial)} more under way ({_epochs(partial)} of {planned})"


def _next_time(partial: Runs) -> str:
    """How to go on, and what to know about the parts of runs that are there."""
    unfinished = any(run.epochs < run.config.training.epochs for run in partial)
    note = " (A run whose options depend on its last epoch is kept as unfinished.)"
    return f"Run the same command again to go on.{note if unfinished else ''}"

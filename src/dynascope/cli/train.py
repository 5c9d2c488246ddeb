"""`dynascope train`: runs of chosen seeds, fresh ones, fine-tuned ones, or one that goes on."""

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path

from dynascope.cli.address import resolve
from dynascope.cli.arguments import number
from dynascope.cli.options import configured, listing
from dynascope.cli.train_and_save import Outcome, Watch, train_and_save
from dynascope.config import Config
from dynascope.engine import Interrupted, check_memory, train
from dynascope.errors import DynascopeError, expected
from dynascope.printing import print
from dynascope.progress import Status
from dynascope.run import Run, Runs
from dynascope.seeds import parse_seeds

_SLICE = 0.1  # seconds of computing between looks at Ctrl-C
TrainRuns = Callable[[Watch], Runs]

ABOUT = """\
Train one run per seed. A seed gives the same weights on every machine and with
any number of threads. Ctrl-C stops early and keeps the runs that are finished."""

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
    how.add_argument("--out", metavar="FOLDER", help="keep the runs in a new folder")
    how.add_argument("--quiet", action="store_true", help="print nothing but errors")


def run(options: Namespace) -> int:
    """Check everything, then train, save and report."""
    if options.go_on and options.source is None:
        raise DynascopeError("--continue: expected --from RUN, the run to continue.")
    parent, epoch = resolve(options.source) if options.source is not None else (None, -1)
    if options.go_on and parent is not None:
        config, work = _continuing(options, parent, epoch)
        wanted = 1
    else:
        config, seeds, work = _training(options, parent, epoch)
        wanted = len(seeds)
    if options.options:
        print(*listing(config).splitlines())
        return 0
    out = None if options.out is None else _new(options.out)
    return _report(options, train_and_save(work, out, options.quiet), wanted)


def _new(folder: str) -> Path:
    from dynascope.store.files import check_new

    return check_new(folder)


def _training(
    options: Namespace, parent: Run | None, epoch: int
) -> tuple[Config, list[int], TrainRuns]:
    """Fresh runs; with a parent, from its weights and with its options where none are given."""
    base = parent.config if parent else Config()
    config = configured(base, options.config, options.settings)
    default = [parent.seed] if parent else [0]
    seeds = default if options.seeds is None else parse_seeds(options.seeds)
    data = parent.data if parent else None
    if data and data.fit(config) != config:
        raise DynascopeError("task: the sizes must stay those of the run's own data.")
    start = parent
    if parent and epoch not in (-1, parent.diverged):
        start = parent.trainer(epoch).run  # as it was then: `train` records parent and epoch

    def work(watch: Watch) -> Runs:
        threads = options.threads
        return train(config, seeds, threads=threads, progress=watch, data=data, start=start)

    return config, seeds, work


def _continuing(options: Namespace, run: Run, epoch: int) -> tuple[Config, TrainRuns]:
    """The same run, further: the same bits as if it had been asked for in one go."""
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
    if run.config_at(run.epochs).training.ends:
        raise DynascopeError(
            "--continue: expected training.schedule constant or warmup, but got 'cosine', whose "
            "length is part of the run; to fine-tune from it, use --from without --continue."
        )
    if epochs <= run.epochs:
        what = f"more than the {run.epochs} that the run has"
        raise expected("training.epochs", what, epochs, "add --epochs N")
    check_memory(config, 1)
    return config, lambda watch: Runs([_continued(run, epochs, watch)])


def _continued(run: Run, epochs: int, watch: Watch) -> Run:
    """`run.continued`, in slices: Ctrl-C keeps the epochs that are done, which are a run too."""
    trainer = run.trainer()
    status = Status(1, epochs - run.epochs)
    slice_ = 1
    try:
        while trainer.epoch < epochs and trainer.diverged is None:
            began = time.perf_counter()
            trainer.advance(min(slice_, epochs - trainer.epoch))
            took = time.perf_counter() - began
            slice_ = max(1, min(4 * slice_, int(slice_ * _SLICE / max(took, 1e-9))))
            status.finished_epochs = trainer.epoch - run.epochs
            watch(status)
        trainer.advance(epochs - trainer.epoch)  # after a divergence: rows for what is missing
    except KeyboardInterrupt:
        if trainer.epoch < epochs:
            raise Interrupted(Runs([trainer.run])) from None
    finally:
        watch.close()
    return trainer.run


def _report(options: Namespace, outcome: Outcome, wanted: int) -> int:
    runs, trouble = outcome.runs, outcome.trouble
    saved = options.out is not None and len(runs) > 0 and not trouble
    if len(runs) and not options.quiet:
        from dynascope.cli.run_table import print_table, stdout, summary

        console = stdout()
        print_table(runs, console)
        console.print(f"\n{summary(runs, outcome.seconds)}")
        if saved:
            count = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
            print(f"Saved {count} to {options.out}.")
        elif options.out is None:
            console.print("Nothing was saved; use --out FOLDER to keep the runs.")
    if outcome.stopped:
        done = f"{len(runs)} of {wanted} runs finished"
        if options.go_on:
            done = f"the run is at epoch {runs[0].epochs}"
        where = f"saved to {options.out}." if saved else trouble or "nothing was saved."
        print(f"dynascope: {outcome.stopped}; {done}, {where}", file=sys.stderr)
    elif trouble:
        print(f"dynascope: {trouble}", file=sys.stderr)
    return 1 if outcome.stopped or trouble else 0

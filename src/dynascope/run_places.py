"""Where a run, many of them or a trainer have what people call otherwise: `run.loss`, `runs.mean`.

From the tables of curves, parameters and options, so that new ones are found, too.
"""

from dynascope._kernel import CURVE_NAMES, PARAMETER_NAMES
from dynascope.analysis_columns import KINDS, function_of
from dynascope.option_words import option_places

_CURVES = {name: name for name in CURVE_NAMES} | {
    "loss": "train_loss",
    "losses": "train_loss",
    "train_losses": "train_loss",
    "test_losses": "test_loss",
    "val_loss": "test_loss",
    "accuracy": "test_accuracy",
    "acc": "test_accuracy",
    "test_acc": "test_accuracy",
    "val_accuracy": "test_accuracy",
    "train_acc": "train_accuracy",
}
_NO_PLOT = 'run.curves["test_loss"], a NumPy array, for the plotting library of your choice'


def run_places() -> dict[str, str]:
    return {
        **option_places("run.config"),
        **{kind: f"ds.{function_of(kind)}" for kind in KINDS},
        **{word: f"run.curves[{curve!r}]" for word, curve in _CURVES.items()},
        **{name: f"run.parameters().{name}" for name in PARAMETER_NAMES},
        **dict.fromkeys(("model", "state_dict", "params", "weight"), "run.parameters()"),
        **dict.fromkeys(("history", "curve", "metrics", "logs", "log"), "run.curves"),
        **dict.fromkeys(("dataset", "train_set", "test_set", "tokens"), "run.examples('test')"),
        **dict.fromkeys(("plot", "show"), _NO_PLOT),
        **dict.fromkeys(("save", "to_disk", "table", "frame"), "ds.Runs([run]).save(folder)"),
        **dict.fromkeys(("train", "fit", "resume", "advance"), "run.continued(epochs)"),
        **dict.fromkeys(("export", "to_html", "html"), "ds.export(run, 'run.html')"),
        **dict.fromkeys(("widget", "browse"), "run.sandbox()"),
        "forward": "ds.forward(run.parameters(), tokens, run.config)",
        "results": "run.summary()",
    }


def runs_places() -> dict[str, str]:
    columns = {word: f"runs.table([{word!r}])" for word in ("learning_epoch", "lowest_loss", "id")}
    numbers = dict.fromkeys(("mean", "std", "median", "min", "max"), _MEAN)
    return {
        **{word: f"runs[0].{place.removeprefix('run.')}" for word, place in run_places().items()},
        **{word: f"runs.curve({curve!r})" for word, curve in _CURVES.items()},
        **columns,
        **numbers,
        **dict.fromkeys(("curves", "history"), "runs.curve('test_accuracy')"),
        **dict.fromkeys(("to_pandas", "df", "dataframe", "to_frame"), "runs.frame()"),
        **dict.fromkeys(("filter", "query", "loc", "iloc", "sel"), "runs.where('accuracy > 0.9')"),
        **dict.fromkeys(("append", "extend", "concat", "merge"), "runs + more"),
        **dict.fromkeys(("head", "tail"), "runs[:5]"),
        **dict.fromkeys(("sort", "sort_values", "sorted", "best"), _BEST),
        **dict.fromkeys(("describe", "summary", "columns"), "runs.table()"),
        **dict.fromkeys(("seed", "by_id"), "runs.by_seed(3)"),
        **dict.fromkeys(("save_to", "to_parquet", "dump", "write"), "runs.save(folder)"),
        **dict.fromkeys(("plot", "show"), "runs.curve('test_accuracy'), a NumPy array to plot"),
        "ids": "[run.id for run in runs]",
        "config": "runs[0].config",
        "parameters": "runs[0].parameters()",
    }


_MEAN = "runs.curve('test_accuracy').mean(axis=0)"
_BEST = "sorted(runs, key=lambda run: run.summary()['accuracy'])"


def trainer_places() -> dict[str, str]:
    after = {word: f"trainer.run.{p.removeprefix('run.')}" for word, p in run_places().items()}
    return {
        **after,
        **dict.fromkeys(("train", "fit", "run_epochs", "resume"), "trainer.advance(epochs)"),
        **dict.fromkeys(("train_step", "training_step", "steps"), "trainer.advance_steps(1)"),
        **dict.fromkeys(("weights", "model", "params", "state_dict"), "trainer.parameters"),
        **dict.fromkeys(("curves", "history"), "trainer.run.curves"),
        "save": "ds.Runs([trainer.run]).save(folder)",
    }

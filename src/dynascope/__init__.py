"""dynascope: a laboratory for watching transformers learn.

>>> import dynascope as ds
>>> config = ds.Config(training=ds.TrainingConfig(epochs=5))
>>> runs = ds.train(config, seeds=range(3), progress=False)
>>> runs[0].curves["test_accuracy"].shape  # index 0 is before training
(6,)
"""

from typing import TYPE_CHECKING, Any

import dynascope.starting as _starting  # noqa: F401 (first: Ctrl-C may come at once)
from dynascope import kernel_loading as _kernel_loading  # noqa: F401 (next, for its sentence)
from dynascope import wiring as _wiring
from dynascope._kernel import PARAMETER_NAMES as PARAMETER_NAMES
from dynascope.config import Config as Config
from dynascope.config import ModelConfig as ModelConfig
from dynascope.config import RecordConfig as RecordConfig
from dynascope.config import TaskConfig as TaskConfig
from dynascope.config import TrainingConfig as TrainingConfig
from dynascope.data import Data as Data
from dynascope.data import dataset as dataset
from dynascope.engine import Interrupted as Interrupted
from dynascope.engine import train as train
from dynascope.errors import DynascopeError as DynascopeError
from dynascope.model import Activations as Activations
from dynascope.model import forward as forward
from dynascope.model import initial_parameters as initial_parameters
from dynascope.model import loss_and_gradient as loss_and_gradient
from dynascope.near_misses import no_attribute as _no_attribute
from dynascope.notebook_display import provide_drawing as _provide_drawing
from dynascope.parameters import Parameters as Parameters
from dynascope.run import Origin as Origin
from dynascope.run import Run as Run
from dynascope.run import Runs as Runs
from dynascope.second_order import hessian as hessian
from dynascope.second_order import hessian_products as hessian_products
from dynascope.services import provide as _provide
from dynascope.trainer import Trainer as Trainer
from dynascope.version import __version__ as __version__

if TYPE_CHECKING:
    from dynascope import analysis as analysis
    from dynascope import plots as plots
    from dynascope import theory as theory
    from dynascope.sandbox.movie import movie as movie
    from dynascope.sandbox.one_file import export as export
    from dynascope.store import DamageWarning as DamageWarning
    from dynascope.store import load as load
    from dynascope.store import merge as merge
    from dynascope.store.query import query as query
    from dynascope.studies.study_function import study as study
    from dynascope.sweeps import sweep as sweep

_provide(_wiring)
_provide_drawing(_wiring.drawn)

_MODULES = ("analysis", "theory")
_WITH_EXTRAS = ("plots",)  # modules that need more than is always installed
_PLACES = {  # where people find what they call so
    **dict.fromkeys(("fit", "run", "train_many"), "ds.train(config, seeds)"),
    **dict.fromkeys(("read", "open", "read_parquet", "load_runs"), "ds.load(folder)"),
    **dict.fromkeys(("Model", "Transformer"), "ds.forward, or dynascope.torch.Transformer"),
    **dict.fromkeys(("save", "dump"), "runs.save(folder)"),
    **dict.fromkeys(("sql", "connect"), "ds.query(folder, sql)"),
    **dict.fromkeys(("Dataset", "DataLoader"), "ds.dataset, or ds.Data for your own"),
    **dict.fromkeys(("grad", "gradient", "loss"), "ds.loss_and_gradient"),
    **dict.fromkeys(("plot", "show", "draw", "figure"), "ds.plots.figure(layout, run)"),
    **dict.fromkeys(("film", "video", "record"), "ds.movie(run, path)"),
    **dict.fromkeys(("studies", "claims", "reproduce", "replicate"), 'ds.study("all")'),
    **dict.fromkeys(("init", "initialize", "init_weights"), "ds.initial_parameters(config, seed)"),
}
_LATER = {
    "DamageWarning": "dynascope.store",
    "export": "dynascope.sandbox.one_file",
    "load": "dynascope.store",
    "merge": "dynascope.store",
    "movie": "dynascope.sandbox.movie",
    "query": "dynascope.store",
    "study": "dynascope.studies.study_function",
    "sweep": "dynascope.sweeps",
}


def __getattr__(name: str) -> Any:
    """Names whose modules import Arrow or other slow packages: training does not need them."""
    from importlib import import_module
    from types import ModuleType

    if name in (*_MODULES, *_WITH_EXTRAS):
        return import_module(f"dynascope.{name}")
    if name.startswith("_"):
        raise AttributeError(f"module 'dynascope' has no attribute {name!r}")
    if name not in _LATER:
        inside = {each: dir(__getattr__(each)) for each in _MODULES}
        deeper = {own: f"ds.{each}.{own}" for each, names in inside.items() for own in names}
        own = [each for each in __dir__() if not isinstance(globals().get(each), ModuleType)]
        raise _no_attribute("dynascope", name, own, deeper | _PLACES)
    value = getattr(import_module(_LATER[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_MODULES, *_WITH_EXTRAS})

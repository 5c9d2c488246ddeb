"""What other libraries call our options and arguments.

A word here is never accepted: it is what a sentence about a mistake starts from.
"""

from collections.abc import Collection

from dynascope.catalog import OPTIONS
from dynascope.errors import did_you_mean

_OPTIONS = {  # option: other words for it
    "task.length": "n sequence_length seq_len seq_length context_length max_len block_size",
    "task.vocab": "p vocab_size n_tokens n_vocab d_vocab modulus num_classes n_classes",
    "task.relevant": "k sparsity relevant_positions",
    "task.train_size": "n_train num_train train_samples n_samples num_samples",
    "task.test_size": "n_test num_test test_samples",
    "task.name": "task_name",
    "model.dim": "d d_model embed_dim embedding_dim emb_dim n_embd",
    "model.hidden": "h hidden_size hidden_dim d_ff d_mlp mlp_dim ff_dim width n_hidden",
    "model.activation": "act act_fn activation_fn nonlinearity",
    "model.norm": "norm_type normalization layer_norm layernorm rmsnorm",
    "model.embeddings": "num_embeddings n_embeddings",
    "training.optimizer": "optim opt",
    "training.lr": "learning_rate step_size eta",
    "training.batch": "batch_size bs batchsize minibatch",
    "training.epochs": "n_epochs num_epochs max_epochs nb_epoch iterations n_iter",
    "training.frozen": "freeze",
    "training.beta1": "betas",
    "training.weight_decay": "wd decay l2",
    "training.clip": "grad_clip clip_grad clip_norm max_grad_norm gradient_clip_val",
    "training.sam": "rho sam_rho sharpness_aware sharpness_aware_minimization",
    "training.muon_momentum": "mu",
    "training.schedule": "scheduler lr_schedule lr_scheduler",
    "training.warmup": "warmup_steps",
    "record.weights_every": "save_every log_every checkpoint_every record_every",
    "precision": "dtype float_type",
}
OPTION_WORDS = {word: option for option, words in _OPTIONS.items() for word in words.split()}

_ARGUMENTS = {  # argument: other words for it
    "seeds": "seed n_seeds num_seeds runs n_runs num_runs random_state random_seed",
    "seed": "seeds random_state random_seed",
    "threads": "n_jobs num_workers workers n_workers n_threads num_threads cores cpus jobs",
    "progress": "verbose bar progress_bar tqdm quiet",
    "tokens": "x X inputs input input_ids sequences",
    "targets": "y Y labels label target output",
    "train": "x y X Y tokens targets inputs labels train_data",
    "data": "dataset train_data dataloader",
    "start": "init initial weights params parameters checkpoint pretrained from_run",
    "parameters": "weights params state_dict",
    "folder": "path file filename directory dir out",
    "out": "folder path output",
    "split": "train test subset",
    "epochs": "epoch n num_epochs",
    "epoch": "epochs at step",
    "model": "config",
    "config": "cfg conf options settings params_config",
    "patch": "hooks hook replace",
    "ablate": "mask cut remove",
}

_COMPUTES = "dynascope runs on the CPU; threads says on how many cores"
_ONE_BLOCK = "the model is one block with one query"
NOT_HERE = {
    **dict.fromkeys(("device", "cuda", "gpu", "gpus", "accelerator"), _COMPUTES),
    **dict.fromkeys(
        ("layers", "n_layers", "num_layers", "depth", "heads", "n_heads", "num_heads", "nhead"),
        _ONE_BLOCK,
    ),
    "dropout": "the model has no dropout",
    "shuffle": "every epoch shuffles the batches again, as the seed says",
    **dict.fromkeys(("loss", "loss_fn", "criterion"), "the loss is the cross-entropy"),
    **dict.fromkeys(
        ("callback", "callbacks"), "to look at a run while it trains, use ds.Trainer and advance it"
    ),
}
"""Words of other libraries for what there is none of, and why."""

VALUES_ELSEWHERE = {
    "sam": "SAM goes with every optimizer: set training.sam to its radius, such as 0.05",
}
"""Words that people try as the value of an option, but that are set elsewhere."""


def argument_meant(word: str, takes: Collection[str]) -> str | None:
    """The argument, of those that a function takes, that people also call so."""
    return next((a for a in takes if word in _ARGUMENTS.get(a, "").split()), None)


def option_meant(word: str) -> str | None:
    """The dotted name of the option that somebody may mean by this word.

    >>> option_meant("epochs"), option_meant("batch_size"), option_meant("epoch")
    ('training.epochs', 'training.batch', 'training.epochs')
    """
    if word in OPTIONS:
        return word
    exact = next((name for name, option in OPTIONS.items() if option.short == word), None)
    if found := exact or OPTION_WORDS.get(word):
        return found
    near = did_you_mean(word, OPTIONS).partition("'")[2].removesuffix("'?")
    return near or None


def option_places(config: str) -> dict[str, str]:
    """Where each option is in a config, under its own name and under other words for it.

    >>> option_places("run.config")["learning_rate"]
    'run.config.training.lr'
    """
    own = {option.short: f"{config}.{name}" for name, option in OPTIONS.items()}
    return own | {word: f"{config}.{name}" for word, name in OPTION_WORDS.items()}

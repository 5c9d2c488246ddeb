"""A plain eager PyTorch loop on `dynascope.torch`, without a DataLoader.

Per epoch: a permutation, batches by slicing the permuted set, `zero_grad`, `backward`, `step`; then
loss and accuracy on both sets under `no_grad`. What is recorded is recorded cheaply: gradient norms
by one `_foreach_norm` per step (they are combined once per epoch), weights by one copy per epoch;
with `record=False` neither. Two choices favour PyTorch: Adam is the fused one, which on weights
this small takes about a quarter of the default one's time, and a full batch is not shuffled.
"""

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

import dynascope as ds
from dynascope.torch import Transformer
from processes import repeat_timed, together
from settings import EPOCHS, Measurement


def tensors(data: tuple[npt.NDArray[Any], npt.NDArray[Any]]) -> tuple[Tensor, Tensor]:
    """Tokens and targets; cross-entropy wants its classes as int64."""
    return torch.from_numpy(data[0]).long(), torch.from_numpy(data[1]).long()


class Run:
    """One run of `config`, an epoch at a time."""

    def __init__(self, config: ds.Config, seed: int, record: bool = True) -> None:
        self.train = tensors(ds.dataset(config.task, seed))
        self.test = tensors(ds.dataset(config.task, seed, "test"))
        self.model = Transformer.from_parameters(ds.initial_parameters(config, seed), config)
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), lr=config.training.lr, fused=True
        )
        self.batch = config.training.batch
        self.generator = torch.Generator().manual_seed(seed)
        self.record = record
        self.scores: list[tuple[Tensor, Tensor]] = []
        self.weights: list[list[Tensor]] = []
        self.norms: list[tuple[Tensor, Tensor]] = []

    def step(self, tokens: Tensor, targets: Tensor) -> None:
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(tokens), targets)
        loss.backward()  # type: ignore[no-untyped-call]  # PyTorch leaves it untyped
        self.optimizer.step()

    def epoch(self) -> None:
        tokens, targets = self.train
        if self.batch < len(tokens):
            order = torch.randperm(len(tokens), generator=self.generator)
            tokens, targets = tokens[order], targets[order]
        norms = []
        for start in range(0, len(tokens), self.batch):
            self.step(tokens[start : start + self.batch], targets[start : start + self.batch])
            if self.record:
                norms.append(torch.stack(torch._foreach_norm(self.gradients())))
        if self.record:
            each = torch.stack(norms)
            self.norms.append((each.mean(dim=0), each.amax(dim=0)))
            self.weights.append([p.detach().clone() for p in self.model.parameters()])
        self.scores += [self.score(*self.train), self.score(*self.test)]

    def gradients(self) -> list[Tensor]:
        return [p.grad for p in self.model.parameters() if p.grad is not None]

    @torch.no_grad()
    def score(self, tokens: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        logits = self.model(tokens)
        return F.cross_entropy(logits, targets), (logits.argmax(dim=-1) == targets).float().mean()


@dataclass(frozen=True)
class Job:
    config: ds.Config
    seed: int
    record: bool
    seconds: float


def seconds_per_epoch(job: Job) -> tuple[float, int]:
    torch.set_num_threads(1)
    run = Run(job.config, job.seed, job.record)
    run.epoch()  # the first one allocates
    return repeat_timed(run.epoch, job.seconds)


def measure(config: ds.Config, cores: int, seconds: float, record: bool = True) -> Measurement:
    jobs = [Job(config, seed, record, seconds) for seed in range(cores)]
    times, epochs = zip(*together(seconds_per_epoch, jobs), strict=True)
    return Measurement(
        seconds_per_run=sum(times) / cores * EPOCHS / cores,
        how=f"{cores} processes of one thread, {min(epochs)} epochs after one to warm up",
    )

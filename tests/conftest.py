"""Shared by all tests: where the tables are, and one thread for PyTorch's tiny tensors."""

import contextlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # cases.py and reference.py

with contextlib.suppress(ModuleNotFoundError):  # the sanitizer runs go without PyTorch
    import torch

    torch.set_num_threads(1)

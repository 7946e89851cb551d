"""The training step in PyTorch."""

from problems.mlp_torch import objective
from problems.training import update

__all__ = ["objective", "update"]

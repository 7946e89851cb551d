"""The training step for autograd, with its namespace in the network."""

import autograd.numpy as np

import problems
from problems.training import update

__all__ = ["update"]

module = problems.load("mlp")
module.np = np
objective = module.objective

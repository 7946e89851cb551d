"""Sampling and variational inference on densities written in plain Python and SciPy."""

from wengert.infer import transforms
from wengert.infer.advi import advi
from wengert.infer.approximation import Approximation
from wengert.infer.compiling import NotCompiledWarning
from wengert.infer.expectations import expectation_grad
from wengert.infer.handlers import ModelError
from wengert.infer.laplace import laplace
from wengert.infer.mixture import mixture
from wengert.infer.model import factor, flat, observe, plate, record, sample
from wengert.infer.pathfinder import NotConvergedWarning, pathfinder
from wengert.infer.posterior import Posterior, posterior

__all__ = [
    "Approximation",
    "ModelError",
    "NotCompiledWarning",
    "NotConvergedWarning",
    "Posterior",
    "advi",
    "expectation_grad",
    "factor",
    "flat",
    "laplace",
    "mixture",
    "observe",
    "pathfinder",
    "plate",
    "posterior",
    "record",
    "sample",
    "transforms",
]

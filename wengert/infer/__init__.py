"""Sampling and variational inference on densities written in plain Python and SciPy."""

from wengert.infer import transforms
from wengert.infer.expectations import expectation_grad
from wengert.infer.handlers import ModelError
from wengert.infer.mixture import mixture
from wengert.infer.model import factor, flat, observe, plate, record, sample
from wengert.infer.posterior import Posterior, posterior

__all__ = [
    "ModelError",
    "Posterior",
    "expectation_grad",
    "factor",
    "flat",
    "mixture",
    "observe",
    "plate",
    "posterior",
    "record",
    "sample",
    "transforms",
]

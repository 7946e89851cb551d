"""Sampling and variational inference on densities written in plain Python and SciPy."""

from wengert.infer import transforms
from wengert.infer.advi import advi
from wengert.infer.amortization import Amortized, amortized
from wengert.infer.approximation import Approximation
from wengert.infer.calibration import Calibration, sbc
from wengert.infer.categories import categorical
from wengert.infer.check import CheckReport, check
from wengert.infer.compiling import NotCompiledWarning
from wengert.infer.expectations import expectation_grad
from wengert.infer.handlers import ModelError
from wengert.infer.laplace import laplace
from wengert.infer.lkj import lkj, lkj_cholesky
from wengert.infer.logits import bernoulli_logit, binomial_logit, ordered_logistic, poisson_log
from wengert.infer.mixture import mixture
from wengert.infer.model import factor, flat, observe, plate, record, sample
from wengert.infer.pathfinder import NotConvergedWarning, pathfinder
from wengert.infer.pictures import DrawsPicture, plot_energy, plot_pairs
from wengert.infer.posterior import Posterior, posterior
from wengert.infer.predictive import log_likelihood, posterior_predictive, prior_predictive
from wengert.infer.result import Samples
from wengert.infer.samplers import hmc, mala, nuts, random_walk, riemannian_hmc, slice
from wengert.infer.stochastic import sghmc, sgld

__all__ = [
    "Amortized", "Approximation", "Calibration", "CheckReport", "DrawsPicture", "ModelError", "NotCompiledWarning",
    "NotConvergedWarning", "Posterior", "Samples", "advi", "amortized", "bernoulli_logit", "binomial_logit",
    "categorical", "check", "expectation_grad", "factor", "flat", "hmc", "laplace", "lkj", "lkj_cholesky",
    "log_likelihood", "mala", "mixture", "nuts", "observe", "ordered_logistic", "pathfinder", "plate", "plot_energy",
    "plot_pairs", "poisson_log", "posterior", "posterior_predictive", "prior_predictive", "random_walk", "record",
    "riemannian_hmc", "sample", "sbc", "sghmc", "sgld", "slice", "transforms",
]  # fmt: skip

"""From a plain NumPy function to its minimum: optimisation, least squares, equations, nonlinear programs."""

from wengert.optimize.continuation import continue_solution
from wengert.optimize.first_order.chain import FirstOrder, chain
from wengert.optimize.first_order.curvature import hessian_free, natural_gradient, newton, smd, stochastic_lbfgs
from wengert.optimize.first_order.methods import (
    adadelta,
    adagrad,
    adam,
    adamw,
    gradient_descent,
    lion,
    momentum,
    nesterov,
    rmsprop,
    rprop,
    sgd,
)
from wengert.optimize.first_order.schedules import (
    constant,
    cosine_decay,
    exponential_decay,
    linear_ramp,
    piecewise,
    warmup,
)
from wengert.optimize.first_order.shaping import (
    add_weight_decay,
    clip_by_global_norm,
    clip_by_norm,
    clip_by_value,
    exponential_average,
    global_norm,
    polyak_average,
)
from wengert.optimize.fit import Fit
from wengert.optimize.least_squares import least_squares
from wengert.optimize.manifolds import SE3, SO3, Manifold, sphere, unit_quaternion
from wengert.optimize.minimize import minimize
from wengert.optimize.model import Model
from wengert.optimize.nlp import nlp
from wengert.optimize.solve import solve
from wengert.optimize.sum_over import sum_over

__all__ = [
    "SE3", "SO3", "Fit", "Manifold", "least_squares", "sphere", "unit_quaternion", "FirstOrder", "Model", "adadelta",
    "adagrad", "adam", "adamw", "add_weight_decay", "chain", "clip_by_global_norm", "clip_by_norm", "clip_by_value",
    "constant", "continue_solution", "cosine_decay", "exponential_average", "exponential_decay", "global_norm",
    "gradient_descent", "hessian_free", "linear_ramp", "lion", "minimize", "momentum", "natural_gradient", "nesterov",
    "newton", "nlp", "piecewise", "polyak_average", "rmsprop", "rprop", "sgd", "smd", "solve", "stochastic_lbfgs",
    "sum_over", "warmup",
]  # fmt: skip

"""From a plain NumPy function to its minimum: optimisation, least squares, equations, nonlinear programs."""

from wengert.optimize.minimize import minimize

__all__ = ["minimize"]

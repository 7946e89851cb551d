"""Sampling and variational inference on densities written in plain Python and SciPy."""

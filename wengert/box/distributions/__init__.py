"""Distributions of scipy.stats written in ops. `lookup.py` says which method of SciPy's means what."""

"""Functions of this library in the hands of others: SciPy's optimisers, PyTorch's and JAX's own differentiation."""

"""The table of ops: one row per elementary operation, partial derivatives stated once."""

from wengert.ops import elementwise, index, linalg, matrix_functions, products, reduce, shape, spectra

__all__ = ["elementwise", "index", "linalg", "matrix_functions", "products", "reduce", "shape", "spectra"]

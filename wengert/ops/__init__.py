"""The table of ops: one row per elementary operation, partial derivatives stated once."""

from wengert.ops import elementwise, index, products, reduce, shape

__all__ = ["elementwise", "index", "products", "reduce", "shape"]

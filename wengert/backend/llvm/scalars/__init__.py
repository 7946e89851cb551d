"""Native scalar code for elementwise ops: `emit` for an op, `convert` between dtypes.

values.py       constants and conversions
external.py     calls of functions outside: libm with its vector variants, cython_special, inner loops of ufuncs
lane.py         a number of native code that an op's `impl` can compute with, and the tables of rules
arithmetic.py, integers.py, comparison.py, complexes.py, elementary.py     the rules
emit.py         scalar code for an op
"""

from wengert.backend.llvm.arrays.buffer import Complex
from wengert.backend.llvm.scalars.emit import emit, supports
from wengert.backend.llvm.scalars.values import constant, convert

__all__ = ["Complex", "constant", "convert", "emit", "supports"]

"""Rows for operations on the bits of integers and on masks. None has a derivative."""

from __future__ import annotations

import numpy as np

from wengert.ops.derive import zero
from wengert.ops.traits import INTEGERS

bitwise_and = zero("bitwise_and", np.bitwise_and, elementwise=True, commutes="biu")
bitwise_or = zero("bitwise_or", np.bitwise_or, elementwise=True, commutes="biu")
bitwise_xor = zero("bitwise_xor", np.bitwise_xor, elementwise=True, commutes="biu")
invert = zero("invert", np.invert, elementwise=True)
left_shift = zero("left_shift", np.left_shift, elementwise=True, raises=INTEGERS)
right_shift = zero("right_shift", np.right_shift, elementwise=True, raises=INTEGERS)

"""Rows for operations on the bits of integers and on masks. None has a derivative."""

from __future__ import annotations

import numpy as np

from wengert.ops.derive import zero
from wengert.ops.enclosures import NOT, NOT_EQUAL, ON_BOUNDS, of_masks
from wengert.ops.traits import INTEGERS

bitwise_and = zero("bitwise_and", np.bitwise_and, elementwise=True, commutes="biu", bounds=of_masks(ON_BOUNDS))
bitwise_or = zero("bitwise_or", np.bitwise_or, elementwise=True, commutes="biu", bounds=of_masks(ON_BOUNDS))
bitwise_xor = zero("bitwise_xor", np.bitwise_xor, elementwise=True, commutes="biu", bounds=of_masks(NOT_EQUAL))
invert = zero("invert", np.invert, elementwise=True, bounds=of_masks(NOT))
left_shift = zero("left_shift", np.left_shift, elementwise=True, raises=INTEGERS)
right_shift = zero("right_shift", np.right_shift, elementwise=True, raises=INTEGERS)

"""Random programs that write to arrays in place, compiled, against plain NumPy and a complex step."""

import pytest
from backend.random_writes import Refused, check


@pytest.mark.parametrize("seed", range(24))
def test_random_writes(seed):
    try:
        check(seed)
    except Refused as reason:
        pytest.skip(str(reason))

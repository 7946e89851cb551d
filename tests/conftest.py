"""What all tests share: thread limits, the profiles of hypothesis, and a seeded random generator."""

import os

# Test processes run side by side; BLAS threads on top of them would fight over the same cores. The libraries read
# these variables when they are loaded, so this comes before NumPy.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

_shared = settings(
    deadline=None,  # times vary with what else the machine does
    derandomize=bool(os.environ.get("CI")),
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("quick", _shared, max_examples=10)
settings.register_profile("full", _shared, max_examples=50)
settings.load_profile(os.environ.get("WENGERT_TEST_PROFILE", "full"))


@pytest.fixture
def rng() -> np.random.Generator:
    """A random generator that starts from the same seed in every test."""
    return np.random.default_rng(20180101)

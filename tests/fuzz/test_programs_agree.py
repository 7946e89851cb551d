"""Random programs do in every composition what plain NumPy does: a fixed sample, and a fresh one each time.

`make fuzz SECONDS=600` hunts for as long as asked, and shrinks what it finds.
"""

from __future__ import annotations

import os
import secrets
import warnings

import pytest

from fuzz.compositions import Check
from fuzz.hunt import compositions_for
from fuzz.known import KNOWN
from fuzz.outcome import Outcome
from fuzz.program import generated, text_of

FIXED, FRESH, CHUNK = 200, 40, 20
FIRST = int(os.environ.get("WENGERT_FUZZ_SEED", "0")) or secrets.randbelow(10**9) + 10**6


def failures(seed: int, count: int) -> list[tuple[str, Outcome, str]]:
    program = generated(seed)
    check = Check(program)
    if not check.useful():
        return []
    found = [(name, check.run(name)) for name in compositions_for(seed, count)]
    return [(name, outcome, text_of(program)) for name, outcome in found if outcome.is_bad]


def said(seed: int, name: str, outcome: Outcome, text: str) -> str:
    return f"\n{text}\nseed {seed}: {name}\n{outcome.kind}: {outcome.reason}\n{outcome.detail}\n"


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, FIXED, CHUNK))
def test_a_fixed_sample(start):
    """What is known to fail is listed in `known.py`; the list only gets shorter."""
    bad, better = [], []
    for seed in range(start, start + CHUNK):
        found = failures(seed, 2)
        bad += [said(seed, *f) for f in found if (seed, f[0]) not in KNOWN]
        better += [(s, name) for s, name in KNOWN if s == seed and name not in [f[0] for f in found]]
    assert not bad, "".join(bad)
    if better:
        warnings.warn(f"these agree now, take them out of known.py: {better}", stacklevel=1)


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("WENGERT_FUZZ_FRESH", "1"), reason="asked for the fixed sample only")
@pytest.mark.parametrize("chunk", range(FRESH // CHUNK))
def test_a_fresh_sample(chunk):
    """The seed is printed, so that what fails can be found again: WENGERT_FUZZ_SEED."""
    start = FIRST + chunk * CHUNK
    bad = [said(seed, *f) for seed in range(start, start + CHUNK) for f in failures(seed, 2)]
    if bad and len(bad) <= ALLOWED * CHUNK:
        pytest.xfail(f"WENGERT_FUZZ_SEED={FIRST}: {len(bad)} of {2 * CHUNK} runs fail" + "".join(bad))
    assert not bad, f"WENGERT_FUZZ_SEED={FIRST}" + "".join(bad)


ALLOWED = 0.25
"""How many runs of fresh programs may fail, as long as not all classes of failures are mended."""

"""How times grow with the size: the exponent p of a fit by c·nᵖ over the three largest sizes of a problem."""

import numpy as np

FEWEST = 3
ENTRIES = ("wengert_jit/function", "wengert_jit/derivative", "numba/function", "jax_jit/derivative")


def of(cases: dict) -> dict[str, dict[str, float]]:
    """Return the exponents for each problem whose sizes are numbers."""
    found: dict[str, dict[str, float]] = {}
    for problem in dict.fromkeys(case["problem"] for case in cases.values()):
        mine = [case for case in cases.values() if case["problem"] == problem and not isinstance(case["size"], str)]
        fits = {}
        for entry in ENTRIES:
            points = [(case["size"], case["seconds"][entry]) for case in mine if entry in case["seconds"]]
            if len(points) >= FEWEST:
                fits[entry] = exponent(sorted(points)[-FEWEST:])
        if fits:
            found[problem] = fits
    return found


def exponent(points: list[tuple[float, float]]) -> float:
    """Return the slope of the straight line through the logarithms."""
    sizes, times = np.log(np.array(points)).T
    return float(np.polyfit(sizes, times, 1)[0])

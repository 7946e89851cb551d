"""The families of problems: each has its tables and its picture."""

from dataclasses import dataclass

import problems
import tools

EVERY = tools.SUITES["compiled"]
NATIVE = ("numpy", "wengert_jit", "numba", "jax_jit", "casadi")


@dataclass(frozen=True)
class Family:
    """Some problems that are measured with the same tools and shown together."""

    name: str
    title: str
    problems: tuple[str, ...]
    tools: tuple[str, ...] = EVERY
    memory: bool = False


FAMILIES = (
    Family("helmholtz", "The Helmholtz free energy", ("helmholtz",)),
    Family(
        "adbench",
        "ADBench",
        ("gmm", "ba", "lstm", "hand_simple", "hand_complicated", "logsumexp"),
        memory=True,
    ),
    Family(
        "loops",
        "Loops with writes in place",
        (
            "stencil1d",
            "stencil2d",
            "stencil3d",
            "gauss_seidel",
            "tridiagonal",
            "cholesky",
            "lu",
            "scalars",
            "nbody",
            "reaction",
            "levinson",
            "gram_schmidt",
            "warping",
        ),
        tools=NATIVE,
        memory=True,
    ),
    Family(
        "learning",
        "Networks, Jacobians and Hessians",
        ("training", "rnn", "radiation", "logistic", "rosenbrock"),
        memory=True,
    ),
    Family("overhead", "What a call costs", ("empty", "double", "square")),
)


def case_name(problem: str, size) -> str:
    """Return the name of a case."""
    return f"{problem}-{size}"


def chosen(only: list[str] | None) -> list[tuple[Family, str, list]]:
    """Return (family, problem, sizes) of everything, or of what `only` names: families, problems or cases."""
    found = []
    for family in FAMILIES:
        for problem in family.problems:
            sizes = problems.compiled_sizes(problem)
            if only is not None and family.name not in only and problem not in only:
                sizes = tuple(size for size in sizes if case_name(problem, size) in only)
            if sizes:
                found.append((family, problem, list(sizes)))
    return found

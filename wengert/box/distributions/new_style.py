"""SciPy's distributions of the newer kind, `scipy.stats.Normal(mu=…, sigma=…)`, with traced parameters or numbers.

They are the same families as the older ones by other names: `ccdf` for `sf`, `icdf` for `ppf`, a standard deviation for
a scale. So each is a frozen distribution of the older kind (`lookup.py`), to which methods are handed on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from wengert.box.contents import Holder
from wengert.box.distributions.univariate import unsupported
from wengert.errors import UnsupportedFunctionError


class NewFamily(NamedTuple):
    """The older name, the parameters with their defaults (`None`: there is none), and the older parameters of them."""

    name: str
    parameters: dict[str, Any]
    arguments: Callable[..., tuple]


NEW_FAMILIES = {
    "Normal": NewFamily("norm", {"mu": 0.0, "sigma": 1.0}, lambda mu, sigma: (mu, sigma)),
    "StandardNormal": NewFamily("norm", {}, tuple),
    "Uniform": NewFamily("uniform", {"a": None, "b": None}, lambda a, b: (a, b - a)),
    "Logistic": NewFamily("logistic", {}, tuple),
    "Binomial": NewFamily("binom", {"n": None, "p": None}, lambda n, p: (n, p)),
}

_ALIKE = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "mean", "median", "entropy", "support")
_OTHERWISE = {"ccdf": "sf", "logccdf": "logsf", "icdf": "ppf", "iccdf": "isf", "variance": "var"}
METHODS_OF_OLD = {**dict(zip(_ALIKE, _ALIKE, strict=True)), **_OTHERWISE, "standard_deviation": "std"}
"""What methods are called in the older kind."""


class NewStyle(Holder):
    """A distribution of the newer kind of which parameters, or what its methods are given, is traced."""

    def __init__(self, kind: str, parameters: dict[str, Any], freeze: Callable[[str, tuple], Any]):
        self.kind = kind
        self.parameters = parameters
        family = NEW_FAMILIES[kind]
        self._frozen = freeze(family.name, family.arguments(**parameters))

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_") or "parameters" not in self.__dict__:
            raise AttributeError(attribute)
        if attribute in self.parameters:
            return self.parameters[attribute]
        if attribute not in METHODS_OF_OLD:
            if not hasattr(getattr(sys.modules["scipy.stats"], self.kind, None), attribute):
                raise AttributeError(f"a {self.kind} has no attribute {attribute!r}")
            raise unsupported(self.kind, attribute)
        found = getattr(self._frozen, METHODS_OF_OLD[attribute])

        def called(*args: Any, method: Any = None) -> Any:
            if len(args) > 1:
                raise UnsupportedFunctionError(
                    f"scipy.stats.{self.kind}.{attribute} of two numbers of which one is traced",
                    remedy="write the difference of two calls",
                )
            return found(*args)

        return called

    def __repr__(self) -> str:
        return f"<{self.kind} with traced parameters>"


def made(kind: str, freeze: Callable[[str, tuple], Any]) -> Callable[..., NewStyle]:
    """What the class of a kind does when it is called with traced parameters."""
    known = NEW_FAMILIES[kind].parameters

    def of_parameters(**given: Any) -> NewStyle:
        for option in ("tol", "validation_policy", "cache_policy"):
            given.pop(option, None)
        wrong = [name for name in given if name not in known]
        missing = [name for name, default in known.items() if default is None and given.get(name) is None]
        if wrong or missing:
            what = f"has no parameter {wrong[0]!r}" if wrong else f"needs the parameter {missing[0]!r}"
            raise UnsupportedFunctionError(
                f"scipy.stats.{kind} of traced values {what}", remedy=f"give {', '.join(known)} by name"
            )
        parameters = {name: default if given.get(name) is None else given[name] for name, default in known.items()}
        return NewStyle(kind, parameters, freeze)

    return of_parameters


def kind_of(distribution: Any) -> str | None:
    """The kind of an object that is one of SciPy's newer distributions."""
    of_scipy = distribution.__class__.__module__ == "scipy.stats._new_distributions"
    name = distribution.__class__.__name__
    return name if of_scipy and name in NEW_FAMILIES else None


def as_traced(distribution: Any, kind: str, freeze: Callable[[str, tuple], Any]) -> NewStyle:
    """A distribution of SciPy's, whose methods are given traced values."""
    return NewStyle(kind, {name: getattr(distribution, name) for name in NEW_FAMILIES[kind].parameters}, freeze)

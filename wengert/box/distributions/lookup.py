"""From SciPy's distributions to ours: what a call of `scipy.stats.norm.logpdf`, or of a frozen distribution, means.

SciPy's distributions are objects whose methods turn arguments into plain arrays. Those that have formulas here are in
the table BLIND. For any other method, and for the objects themselves, which freeze parameters when they are called,
instrumented code asks `stand_in` what to call: with nothing traced it is SciPy's own. A distribution frozen with traced
parameters is a `Frozen`.

scipy.stats takes long to import. Nothing here imports it: whoever holds one of its objects has.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import sys
from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np

from wengert.box.contents import Holder
from wengert.box.dispatch import BLIND
from wengert.box.distributions.categorical import Categorical
from wengert.box.distributions.continuous import CONTINUOUS
from wengert.box.distributions.discrete import DISCRETE
from wengert.box.distributions.further import FURTHER
from wengert.box.distributions.further_multivariate import FURTHER_MULTIVARIATE
from wengert.box.distributions.multivariate import MULTIVARIATE as USUAL_MULTIVARIATE
from wengert.box.distributions.new_style import NEW_FAMILIES, as_traced, kind_of, made
from wengert.box.distributions.rarer import RARER
from wengert.box.distributions.rarest import RAREST
from wengert.box.distributions.summed import SUMMED
from wengert.box.distributions.univariate import Univariate, checked, unsupported
from wengert.box.functions.operands import answer, holds_traced
from wengert.errors import ConcretizationError
from wengert.imported import when_imported
from wengert.ops.op import Traced
from wengert.running import running

UNIVARIATE: dict[str, Univariate] = {**CONTINUOUS, **DISCRETE, **FURTHER, **RARER, **RAREST, **SUMMED}


def _with_density(methods: dict[str, Callable]) -> dict[str, Callable]:
    """Methods of a distribution, and the density or mass, of which the logarithm is among them."""
    (log,) = [name for name in ("logpdf", "logpmf") if name in methods]
    return {**methods, log.removeprefix("log"): lambda *args, **kwargs: np.exp(methods[log](*args, **kwargs))}


def _parameters(methods: dict[str, Callable]) -> tuple[str, ...]:
    density = methods["logpdf" if "logpdf" in methods else "logpmf"]
    return tuple(inspect.signature(density).parameters)[1:]


MULTIVARIATE = {name: _with_density(row) for name, row in {**USUAL_MULTIVARIATE, **FURTHER_MULTIVARIATE}.items()}
PARAMETERS = {name: _parameters(row) for name, row in MULTIVARIATE.items()}
"""The parameters in the order in which SciPy takes them; a frozen distribution of SciPy's has them as attributes."""
_MODULE = "scipy.stats."
METHODS = (
    *("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"),
    *("entropy", "mean", "var", "std", "median", "support"),
)


def is_of_scipy_stats(f: Any) -> bool:
    """Whether something is an object of scipy.stats, such as a distribution, or a method of one."""
    owner = f.__self__ if type(f) is MethodType else f
    module = getattr(owner.__class__, "__module__", None)
    return module.__class__ is str and module.startswith(_MODULE)


def stand_in(f: Any) -> Callable:
    """What to call for an object of scipy.stats, or a method of one: ours if an argument is traced, else itself."""

    @functools.wraps(f, updated=())
    def called(*args: Any, **kwargs: Any) -> Any:
        for a in itertools.chain(args, kwargs.values()):
            if isinstance(a, Traced) or (isinstance(a, (list, tuple)) and holds_traced(a)):
                return implementation(f)(*args, **kwargs)
        return f(*args, **kwargs)

    return called


def implementation(f: Any) -> Callable:
    """What a method of a distribution means on traced values."""
    owner: Any
    owner, method = (f.__self__, f.__name__) if type(f) is MethodType else (f, "__call__")
    if (kind := kind_of(owner)) is not None:
        return getattr(as_traced(owner, kind, _freeze), method)
    frozen = getattr(owner, "dist", None) or getattr(owner, "_dist", None)
    frozen = None if isinstance(frozen, type) else frozen  # some distributions have an attribute of this name
    distribution = frozen or owner
    if distribution.__class__.__name__ == "rv_sample" and hasattr(distribution, "xk") and hasattr(Categorical, method):
        loc = 0 if frozen is None else owner.kwds.get("loc", owner.args[0] if owner.args else 0)
        return getattr(Categorical(distribution.xk + loc, distribution.pk), method)
    name = _name_of(distribution)
    if name is None:
        called = getattr(distribution, "name", None) or distribution.__class__.__name__.removesuffix("_gen")
        raise unsupported(called, method)
    if frozen is not None:
        return getattr(Frozen(name, *_frozen_parameters(name, owner)), method)
    if method in ("__call__", "freeze"):
        return lambda *args, **kwds: Frozen(name, args, kwds)
    return _method(name, method)


def _name_of(distribution: Any) -> str | None:
    """The name of a distribution that has formulas here."""
    name = distribution.__class__.__name__.removesuffix("_gen")
    if name in MULTIVARIATE:
        return name
    if name not in UNIVARIATE:
        return None
    # SciPy has made others of some classes, with another support (vonmises_line); somebody else may have, too.
    for known in (name, distribution.name):
        usual: Any = getattr(sys.modules["scipy.stats"], known, None) if known in UNIVARIATE else None
        if usual.__class__ is distribution.__class__ and (distribution.a, distribution.b) == (usual.a, usual.b):
            return known
    return None


def _frozen_parameters(name: str, frozen: Any) -> tuple[tuple, dict]:
    """The parameters with which a distribution of SciPy's was frozen."""
    if name in UNIVARIATE:
        return frozen.args, frozen.kwds
    return (), {parameter: getattr(frozen, parameter) for parameter in PARAMETERS[name] if hasattr(frozen, parameter)}


def _method(name: str, method: str) -> Callable:
    found = MULTIVARIATE[name].get(method) if name in MULTIVARIATE else UNIVARIATE[name].method(method)
    if found is None and name in UNIVARIATE and method in _OF_OTHERS:
        return functools.partial(_OF_OTHERS[method], name)
    if found is None:
        raise unsupported(name, method)
    return found


def _stats(name: str, *args: Any, moments: str = "mv", **kwds: Any) -> Any:
    """Mean, variance, skewness and kurtosis, or some of them."""
    if args and isinstance(args[0], str):  # of a frozen distribution
        moments, args = args[0], args[1:]
    found = [_method(name, which)(*args, **kwds) for which, m in (("mean", "m"), ("var", "v")) if m in moments]
    if "s" in moments or "k" in moments:
        shapes = UNIVARIATE[name].parameters("stats", args, kwds)[0]
        skewness, kurtosis = _skewness_and_kurtosis(name, shapes)
        found += [y for y, m in ((skewness, "s"), (kurtosis, "k")) if m in moments]
    return tuple(found) if len(found) != 1 else found[0]


def _skewness_and_kurtosis(name: str, shapes: tuple) -> tuple[Any, Any]:
    """What the shape parameters alone decide, by SciPy's formulas where it has some; they are plain NumPy."""
    distribution = getattr(sys.modules["scipy.stats"], name)
    try:
        *_, skewness, kurtosis = distribution._stats(*shapes, **_MOMENTS[bool(distribution._stats_has_moments)])
        if skewness is None or kurtosis is None:
            if "_munp" not in vars(type(distribution)):  # which would integrate
                raise unsupported(name, "stats(moments='sk')")
            m1, m2, m3, m4 = [distribution._munp(k, *shapes) for k in (1, 2, 3, 4)]
            mu2 = m2 - m1**2
            mu3 = m3 - 3 * m1 * mu2 - m1**3
            skewness = mu3 / mu2**1.5
            kurtosis = (m4 - 4 * m1 * mu3 - 6 * m1**2 * mu2 - m1**4) / mu2**2 - 3
    except (TypeError, ConcretizationError):
        raise unsupported(name, "stats(moments='sk')") from None
    valid = UNIVARIATE[name].are_valid(shapes)
    return checked(skewness, valid), checked(kurtosis, valid)


_MOMENTS: tuple[dict, dict] = ({}, {"moments": "mvsk"})


def _interval(name: str, confidence: Any, *args: Any, **kwds: Any) -> tuple:
    """What has as much probability to its left as to its right."""
    if running.state.capture is None and answer(lambda c: bool(np.any((c < 0) | (c > 1))), confidence):
        raise ValueError("alpha must be between 0 and 1 inclusive")
    quantile = _method(name, "ppf")
    return tuple(quantile(q, *args, **kwds) for q in ((1.0 - confidence) / 2, (1.0 + confidence) / 2))


_OF_OTHERS: dict[str, Callable] = {"stats": _stats, "interval": _interval}
"""Methods that are written with others."""


def _freeze(name: str, args: tuple) -> Frozen:
    return Frozen(name, args, {})


_OF_NUMBERS = frozenset(("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"))


@when_imported("scipy.stats")
def _fill_the_table(stats: Any) -> None:
    """Each supported method is in the table of functions that do not dispatch."""
    for name in UNIVARIATE:
        for method in METHODS:
            distribution = getattr(stats, name)
            if hasattr(distribution, method) and (found := UNIVARIATE[name].method(method)) is not None:
                BLIND[getattr(distribution, method)] = found
                if distribution.a == -math.inf and distribution.b == math.inf:
                    # Without location and scale, and without a look at the support: here that is all numbers.
                    private = getattr(distribution, f"_{method}", None)
                    if private is not None and method in _OF_NUMBERS:
                        BLIND[private] = found
        for method, of_others in _OF_OTHERS.items():
            BLIND[getattr(getattr(stats, name), method)] = functools.partial(of_others, name)
    for kind in NEW_FAMILIES:
        if hasattr(stats, kind):
            BLIND[getattr(stats, kind)] = made(kind, _freeze)
    for name, methods in MULTIVARIATE.items():
        for method, found in methods.items():
            BLIND[getattr(getattr(stats, name), method)] = found


class Frozen(Holder):
    """A distribution with fixed parameters, of which some are traced; it has the methods of SciPy's."""

    def __init__(self, name: str, args: tuple, kwds: dict):
        self.name = name
        if name in MULTIVARIATE:
            known = PARAMETERS[name]
            kwds = {**dict(zip(known, args, strict=False)), **kwds}
            args, kwds = (), {k: v for k, v in kwds.items() if k in known}
        else:
            UNIVARIATE[name].parameters(name, args, kwds)  # raises if they do not fit
        self.args, self.kwds = args, kwds

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_") or "kwds" not in self.__dict__:
            raise AttributeError(attribute)
        name = self.name
        if name in MULTIVARIATE and attribute in self.kwds and attribute not in MULTIVARIATE[name]:
            return self.kwds[attribute]
        if attribute == "dist" and name in UNIVARIATE:
            return getattr(sys.modules["scipy.stats"], name)
        if not hasattr(getattr(sys.modules["scipy.stats"], name), attribute):
            raise AttributeError(f"a frozen {name} has no attribute {attribute!r}")
        found = _method(name, attribute)
        return lambda *data, **named: found(*data, *self.args, **named, **self.kwds)

    @property
    def stands_for(self) -> type:
        """The class of SciPy's that it would be of."""
        stats = sys.modules["scipy.stats"]
        if self.name in MULTIVARIATE:
            return getattr(sys.modules["scipy.stats._multivariate"], f"{self.name}_frozen", Frozen)
        kinds = sys.modules["scipy.stats._distn_infrastructure"]
        is_discrete = isinstance(getattr(stats, self.name), stats.rv_discrete)
        return kinds.rv_discrete_frozen if is_discrete else kinds.rv_continuous_frozen

    def __repr__(self) -> str:
        return f"<frozen {self.name} with traced parameters>"

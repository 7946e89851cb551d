"""Which term of a log-density is to blame where that is no number: the model is run again, for its terms."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from wengert.infer import distributions
from wengert.infer.handlers import run_under
from wengert.infer.posterior import ModelPosterior, Posterior
from wengert.infer.ways import AtPoint


class TermsOfDensity(AtPoint):
    """Runs a model at a point and keeps what each site and observation adds to the log-density."""

    def __init__(self, sites: Any, u: Any):
        super().__init__(sites, u)
        self.parts: dict[str, Any] = {}

    def sample(self, name: str, dist: Any, shape: Any, transform: Any) -> Any:
        value = super().sample(name, dist, shape, transform)
        self.parts[f"site {name!r}"] = distributions.log_density(dist, value)
        return value

    def observe(self, value: Any, dist: Any, name: str | None) -> None:
        count = sum(key.startswith("observation") for key in self.parts)
        logp = distributions.log_density(dist, value)
        self.parts[f"observation {name or count + 1} ({distributions.family(dist)})"] = logp
        super().observe(value, dist, name)

    def factor(self, logp: Any) -> None:
        self.parts[f"factor {sum(key.startswith('factor') for key in self.parts) + 1}"] = logp
        super().factor(logp)


def culprit(target: Posterior, u: np.ndarray) -> tuple[str, str]:
    """Which term of the log-density is not finite, and what it is."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not isinstance(target, ModelPosterior):
            return "the function itself", "NaN" if np.isnan(target.log_density(u)) else "−∞"
        handler = TermsOfDensity(target.sites, u)
        run_under(handler, target.model, target.args)
    for name, term in handler.parts.items():
        if not np.all(np.isfinite(term)):
            return name, "NaN" if np.any(np.isnan(term)) else "−∞"
    return "the transform of a site", "not finite"


def blamed(target: Posterior, u: np.ndarray) -> str:
    """A sentence on the term that is to blame at a point, for an error; nothing where none is found."""
    try:
        term, what = culprit(target, u)
    except Exception:  # a model that raises, or has discrete sites: who asks has an error of their own
        return ""
    return f": {what} because of {term}"

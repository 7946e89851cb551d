"""What the numbers of an unconstrained point are called."""

from __future__ import annotations

import numpy as np

from wengert.infer.posterior import Posterior


def coordinate_names(posterior: Posterior) -> list[str]:
    """A name for each unconstrained number: its site, with an index where the site has several."""
    sites = getattr(posterior, "sites", None)
    if sites is None:
        return [f"u[{k}]" for k in range(posterior.size)]
    places = sites.values() if isinstance(sites, dict) else sites
    names = []
    for name, site in zip(posterior.names, places, strict=True):
        name = name or "x"
        names += [f"{name}[{', '.join(map(str, at))}]" if at else name for at in np.ndindex(*site.inner)]
    return names

"""How each op is written: the whole table from ops to NumPy expressions."""

from __future__ import annotations

from wengert.backend.python import operators, reductions, structure
from wengert.backend.python.forms import FORMS, Site, by_implementation
from wengert.backend.python.text import Text

TABLES = (operators, reductions, structure)
"""The modules that fill the table."""


def expression(site: Site) -> Text:
    """The expression that computes an op."""
    known = FORMS.get(site.op.name)
    return known(site) if known else by_implementation(site)

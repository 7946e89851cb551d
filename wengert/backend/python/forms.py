"""What the table from ops to expressions is made of, and how an op is written that is not in it.

Such an op is written by its implementation: a ufunc by its name, a lambda by its body, anything else by a call of a
function that is defined above the generated one (`definitions.py`). So a new op needs an entry in the table
(`operators.py`, `structure.py`, `reductions.py`) only where there is something nicer to read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wengert.backend.python.definitions import Definitions
from wengert.backend.python.literals import number, parameter
from wengert.backend.python.text import ATOM, Text, function
from wengert.errors import UnsupportedFunctionError
from wengert.ir.node import Const, Operand, Type
from wengert.ops.op import Op


class Site(NamedTuple):
    """A place where an op is written: its operands and their texts, its parameters, what the result is for.

    `asked` says that the result is only asked whether it is true.
    """

    op: Op
    operands: tuple[Operand, ...]
    texts: list[Text]
    params: dict[str, Any]
    out: Type | None
    definitions: Definitions
    asked: bool = False

    def type(self, k: int) -> Type:
        return self.operands[k].type

    def all_weak(self) -> bool:
        return all(a.type.weak for a in self.operands)


FORMS: dict[str, Callable[[Site], Text]] = {}
"""How an op is written, by name."""


def form(*names: str) -> Callable[[Callable[[Site], Text]], Callable[[Site], Text]]:
    """Enter a function into the table."""

    def enter(function: Callable[[Site], Text]) -> Callable[[Site], Text]:
        FORMS.update(dict.fromkeys(names, function))
        return function

    return enter


def by_implementation(site: Site) -> Text:
    """A ufunc by its name, a lambda by its body, anything else by a call of a function defined for it."""
    impl = site.op.impl
    if isinstance(impl, np.ufunc):
        name = site.definitions.ufunc(impl)
        if name:
            return function(name, *weakened(site))
    try:
        params = {k: parameter(v) for k, v in site.params.items()}
    except TypeError as reason:
        raise UnsupportedFunctionError(f"the op {site.op.name} in Python source: {reason}", remedy="") from None
    body = site.definitions.inlined(impl, site.texts, params)
    if body is not None:
        return Text(body, ATOM if body.endswith((")", "]")) and not body.startswith("-") else 0)
    return function(site.definitions.of_op(site.op), *site.texts, **params)


def weakened(site: Site) -> list[Text]:
    """The operands, with constants of NumPy's types as plain numbers where that gives the same dtype."""
    strong = [a.type.dtype for a in site.operands if not a.type.weak and not _is_number(a)]
    if not strong:
        return site.texts
    texts = list(site.texts)
    others = np.result_type(*strong)
    for k, a in enumerate(site.operands):
        if _is_number(a) and not a.type.weak and a.type.dtype.kind in "fci":
            value = np.asarray(a.value).item()  # type: ignore[union-attr]
            if (a.type.dtype.kind != "i" or others.kind in "ifc") and np.result_type(*strong, value) == np.result_type(
                *strong, a.type.dtype
            ):
                texts[k] = number(value)
    return texts


def _is_number(a: Operand) -> bool:
    return isinstance(a, Const) and not a.type.shape

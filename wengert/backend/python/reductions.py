"""How reductions, products and transforms are written."""

from __future__ import annotations

import math
from typing import Any

from wengert.backend.python.forms import Site, form
from wengert.backend.python.literals import parameter
from wengert.backend.python.text import MULTIPLY, Text, function, infix, power


def _axes(site: Site, axis: Any) -> dict[str, str]:
    if axis is None or (site.type(0).ndim and sorted(axis) == list(range(site.type(0).ndim))):
        return {}
    return {"axis": parameter(axis[0] if len(axis) == 1 else axis)}


@form("sum", "max", "min", "prod", "any", "all", "nanmax", "nanmin")
def _reduction(site: Site) -> Text:
    options = _axes(site, site.params.get("axis"))
    if site.params.get("keepdims"):
        options["keepdims"] = "True"
    return function("np." + site.op.name, site.texts[0], **options)


@form("weighted_sum")
def _weighted_sum(site: Site) -> Text:
    c, x = site.texts
    if site.type(0).ndim == site.type(1).ndim == 1:
        return infix(c, "@", x, MULTIPLY)
    return function("np.sum", infix(c, "*", x, MULTIPLY), **_axes(site, site.params["axis"]))


@form("logsumexp")
def _logsumexp(site: Site) -> Text:
    name = site.definitions.module("scipy.special") + ".logsumexp"
    return function(name, site.texts[0], **_axes(site, site.params["axis"]))


@form("norm")
def _norm(site: Site) -> Text:
    axis = site.params["axis"]
    options = _axes(site, axis)
    if options and len(axis) > 2:
        return function("np.sqrt", function("np.sum", power(site.texts[0], Text("2")), **options))
    return function("np.linalg.norm", site.texts[0], **options)


@form("einsum")
def _einsum(site: Site) -> Text:
    subscripts = site.params["subscripts"]
    lengths: dict[str, Any] = {}
    for letters, operand in zip(subscripts.split("->")[0].split(","), site.operands, strict=True):
        lengths.update(zip(letters, operand.type.shape, strict=True))
    known = all(n.__class__ is int for n in lengths.values())
    pays = len(site.operands) > 1 and (not known or math.prod(lengths.values()) > 20_000)
    return function("np.einsum", parameter(subscripts), *site.texts, **{"optimize": "True"} if pays else {})


@form("convolve")
def _convolve(site: Site) -> Text:
    mode = {} if site.params["mode"] == "full" else {"mode": parameter(site.params["mode"])}
    return function("np.convolve", *site.texts, **mode)


@form("count_nonzero")
def _count_nonzero(site: Site) -> Text:
    axis = site.params["axis"]
    return function("np.count_nonzero", site.texts[0], axis=parameter(axis[0] if len(axis) == 1 else axis))


@form("argsort")
def _argsort(site: Site) -> Text:
    if site.params.get("kind") == "python":
        order = Text("lambda row: sorted(range(len(row)), key=row.__getitem__)")
        return function("np.apply_along_axis", order, parameter(site.params["axis"]), site.texts[0])
    kind = {"kind": parameter(site.params["kind"])} if site.params.get("kind") else {}
    return function("np.argsort", site.texts[0], axis=parameter(site.params["axis"]), **kind)


@form("searchsorted")
def _searchsorted(site: Site) -> Text:
    side = parameter(site.params["side"])
    lead = site.type(0).ndim - 1
    if not lead:
        return function("np.searchsorted", *site.texts, side=side)
    rest = ", ".join("abcdefghijklm"[: site.type(1).ndim - lead])
    one = f'np.vectorize(lambda a, v: np.searchsorted(a, v, side={side}), signature="(n),({rest})->({rest})")'
    return function(one, *site.texts)


@form("observe")
def _observe(site: Site) -> Text:
    return function(site.definitions.callable(site.params["function"]), *site.texts)


@form("sparse_matmul")
def _sparse_matmul(site: Site) -> Text:
    return infix(Text(site.definitions.sparse(site.params["matrix"])), "@", site.texts[0], MULTIPLY)


@form("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn")
def _spherical(site: Site) -> Text:
    return function(f"{site.definitions.module('scipy.special')}.{site.op.name}", *site.texts)


@form("dct", "dst")
def _trigonometric(site: Site) -> Text:
    options = {k: parameter(v) for k, v in site.params.items()}
    return function(f"{site.definitions.module('scipy.fft')}.{site.op.name}", *site.texts, **options)

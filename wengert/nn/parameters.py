"""The arrays of a model: those that are trained and those that are not, counted, shown, and put back.

An array that stands in two places of a model is one parameter: `split` finds it once, and what it builds has it in both
places, so that derivatives add up and it stays one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert import tree
from wengert.errors import MismatchError
from wengert.nn.layers import FrozenLayer


def _none(thing: Any) -> Any:
    return tree.map(lambda _: False, thing)


def trained(model: Any) -> Any:
    """The container of a model with True for arrays that are trained: floating numbers, neither frozen nor buffers.

    >>> from wengert import nn
    >>> nn.trained(nn.Sequential(nn.Dense(2, 3, rng=0), nn.BatchNorm(3))).layers[1].mean
    False
    """
    if isinstance(model, FrozenLayer):
        return _none(model)
    if dataclasses.is_dataclass(model) and not isinstance(model, type):
        found = object.__new__(type(model))
        for f in dataclasses.fields(model):
            value = getattr(model, f.name)
            if not f.metadata.get("static"):
                value = _none(value) if f.metadata.get("buffer") else trained(value)
            object.__setattr__(found, f.name, value)
        return found
    if isinstance(model, dict):
        return {name: trained(value) for name, value in model.items()}
    if isinstance(model, tuple) and hasattr(model, "_fields"):
        return type(model)(*[trained(value) for value in model])
    if isinstance(model, (list, tuple)):
        return type(model)([trained(value) for value in model])
    return None if model is None else np.asarray(model).dtype.kind in "fc"


class Build:
    """Puts a model together from its parameters and its other arrays: `build(parameters, state)`."""

    def __init__(self, model: Any):
        leaves, self._structure = tree.flatten(model)
        marks = tree.leaves(trained(model))
        self._trained: list[bool] = marks
        self._places: list[int] = []
        self.parameters: list[Any] = []
        self.state: list[Any] = []
        seen: dict[int, int] = {}
        for leaf, mark in zip(leaves, marks, strict=True):
            if not mark:
                self._places.append(len(self.state))
                self.state.append(leaf)
                continue
            if id(leaf) not in seen:
                seen[id(leaf)] = len(self.parameters)
                self.parameters.append(leaf)
            self._places.append(seen[id(leaf)])

    def __call__(self, parameters: Sequence[Any], state: Sequence[Any] | None = None) -> Any:
        state = self.state if state is None else state
        leaves = [(parameters if t else state)[k] for t, k in zip(self._trained, self._places, strict=True)]
        return tree.unflatten(self._structure, leaves)

    def state_of(self, model: Any) -> list[Any]:
        """The other arrays of a model of the same structure."""
        return [leaf for leaf, mark in zip(tree.leaves(model), self._trained, strict=True) if not mark]


def split(model: Any) -> tuple[list[Any], list[Any], Build]:
    """The parameters of a model, its other arrays, and a function that puts such lists together to a model.

    An array that is shared is one parameter. Arrays that are frozen, running averages and integers are not trained.

    >>> import wengert as wg
    >>> from wengert import nn
    >>> model = nn.Sequential(nn.Dense(2, 3, rng=0), nn.BatchNorm(3))
    >>> parameters, state, build = nn.split(model)
    >>> len(parameters), len(state)
    (4, 2)
    >>> loss = lambda parameters: np.sum(build(parameters, state)(np.ones((1, 2))) ** 2)
    >>> [g.shape for g in wg.grad(loss)(parameters)]
    [(2, 3), (3,), (3,), (3,)]
    """
    build = Build(model)
    return build.parameters, build.state, build


def count(model: Any) -> int:
    """How many numbers are trained.

    >>> from wengert import nn
    >>> nn.count(nn.Dense(3, 5, rng=0))
    20
    """
    return sum(int(np.size(p)) for p in split(model)[0])


def cast(model: Any, dtype: Any) -> Any:
    """A model with all its floating numbers in another type.

    >>> from wengert import nn
    >>> nn.cast(nn.Dense(3, 5, rng=0), np.float32).weight.dtype
    dtype('float32')
    """
    made: dict[int, Any] = {}

    def converted(leaf: Any) -> Any:
        if np.asarray(leaf).dtype.kind not in "f":
            return leaf
        if id(leaf) not in made:
            made[id(leaf)] = np.asarray(leaf, dtype)
        return made[id(leaf)]

    return tree.map(converted, model)


def named(model: Any) -> dict[str, Any]:
    """All arrays of a model by their place in it.

    >>> from wengert import nn
    >>> list(nn.named(nn.Sequential(nn.Dense(3, 5, rng=0))))
    ['layers.0.weight', 'layers.0.bias']
    """
    names = [_plain(path) for path in tree.paths(model)]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise MismatchError(
            f"two arrays of the model would have the name {twice[0]}", remedy="give keys without dots to its dicts"
        )
    return dict(zip(names, tree.leaves(model), strict=True))


def _plain(path: str) -> str:
    """`.layers[0].weight` and `['a']` without brackets."""
    for mark in ("['", "[", "."):
        path = path.replace(mark, "/")
    for mark in ("']", "]"):
        path = path.replace(mark, "")
    return path.strip("/").replace("/", ".")


def show(model: Any) -> str:
    """A table of the arrays of a model: where, which shape, how many numbers, and whether they are trained.

    >>> from wengert import nn
    >>> print(nn.show(nn.Sequential(nn.Dense(3, 5, rng=0), nn.relu, nn.freeze(nn.Dense(5, 1, rng=1)))))
    array                  shape   type     numbers
    layers.0.weight        (3, 5)  float64       15
    layers.0.bias          (5,)    float64        5
    layers.2.layer.weight  (5, 1)  float64        5  not trained
    layers.2.layer.bias    (1,)    float64        1  not trained
    20 numbers are trained, 6 are not
    """
    rows = [("array", "shape", "type", "numbers", "")]
    seen: dict[int, str] = {}
    for (name, leaf), mark in zip(named(model).items(), tree.leaves(trained(model)), strict=True):
        note = "" if mark else "not trained"
        if mark and id(leaf) in seen:
            note = f"the same as {seen[id(leaf)]}"
        seen.setdefault(id(leaf), name)
        rows.append((name, str(np.shape(leaf)), str(np.asarray(leaf).dtype), f"{np.size(leaf):,}", note))
    wide = [max(len(row[k]) for row in rows) for k in range(4)]
    lines = [f"{a:<{wide[0]}}  {b:<{wide[1]}}  {c:<{wide[2]}}  {d:>{wide[3]}}  {e}".rstrip() for a, b, c, d, e in rows]
    parameters, state, _ = split(model)
    counts = [sum(int(np.size(x)) for x in xs) for xs in (parameters, state)]
    return "\n".join([*lines, f"{counts[0]:,} numbers are trained, {counts[1]:,} are not"])


def with_arrays(model: Any, arrays: dict[str, Any]) -> Any:
    """A model with the arrays of these names, which must be those of `named(model)`."""
    own = named(model)
    missing, unknown = own.keys() - arrays.keys(), arrays.keys() - own.keys()
    if missing or unknown:
        raise MismatchError(
            "these are not the arrays of this model"
            + (f"; {', '.join(sorted(missing))} is missing" if missing else "")
            + (f"; {', '.join(sorted(unknown))} is not of it" if unknown else ""),
            remedy="make the model with the sizes that it had when it was saved",
        )
    for name, leaf in own.items():
        if np.shape(leaf) != np.shape(arrays[name]):
            raise MismatchError(
                f"{name} has shape {np.shape(leaf)}, and what was saved {np.shape(arrays[name])}",
                remedy="make the model with the sizes that it had when it was saved",
            )
    made: dict[int, Any] = {}
    leaves = [made.setdefault(id(leaf), arrays[name]) for name, leaf in own.items()]
    return tree.unflatten(tree.flatten(model)[1], leaves)

"""Writes in place: through every kind of index, through views, with every operator, overlapping or not."""

from __future__ import annotations

import numpy as np

from fuzz.arrays import fitting, view
from fuzz.expressions import ELEMENTWISE, atom, below, condition, integer, scalar
from fuzz.scope import Scope, Unusable

OPERATORS = ("=", "=", "=", "+=", "*=", "-=", "/=")


def write(s: Scope) -> list[str]:
    """A statement that writes to an array."""
    names = s.arrays(kinds="fc" if s.chance(0.92) else "fcib")
    name = s.one_of([*names, "x"])
    return s.draw([
        ("writes", 5, _at_an_index), ("writes", 1.5, _whole), ("views", 1.5, _through_a_view),
        ("writes", 1.5, _overlapping), ("masks", 2, _at_a_mask), ("scatters", 2, _scattered),
        ("writes", 1, _borders), ("writes", 0.7, _swapped), ("writes", 0.7, _into_out),
    ])(s, name)  # fmt: skip


def _stored(s: Scope, place: str, operators: tuple = OPERATORS) -> list[str]:
    """A store of something that fits to this place."""
    there = s.value(place)
    kinds = "fc" if np.asarray(there).dtype.kind == "c" else "f"
    value = fitting(s, np.shape(there), kinds=kinds) if np.ndim(there) else scalar(s)
    operator = s.one_of(operators)
    if operator == "/=":
        value = f"(2.0 + np.sin({value}))" if kinds == "f" else "(1.5 + 0.5j)"
    if operator == "*=":
        value = s.one_of(["0.5", "-1", f"np.cos({value})"])
    if np.asarray(there).dtype.kind in "ib":
        operator, value = "=", s.one_of([str(s.rng.randint(0, 3)), integer(s), condition(s, 0)])
    if operator == "=" and _numpy_errs(there, s.value(value)):
        value = f"np.copy({value})"
    return [f"{place} {operator} {value}"]


def _numpy_errs(there: object, value: object) -> bool:
    """Whether these are overlapping vectors with other steps, as in `A[1] = A[:, -1]`. NumPy copies such a value before
    it writes only if one of the two goes backwards, and otherwise reads elements that it has written."""
    vectors = [x for x in (there, value) if isinstance(x, np.ndarray) and x.ndim == 1]
    return len(vectors) == 2 and vectors[0].strides != vectors[1].strides and np.shares_memory(*vectors)


def _slice(s: Scope, n: int) -> str:
    low, high = s.rng.randint(0, n - 1), s.rng.randint(1, n)
    return s.one_of([
        ":", "::-1", "1:", ":-1", f"{low}:", f":{high}", f"{low}:{max(high, low + 1)}", "::2", "1::2", "::-2",
        "-2:", "...",
        f"{atom(integer(s))} % {n} :", f": 1 + {atom(integer(s))} % {n}", f"-1 - {low} :",
        f"{atom(integer(s))} % {n} : {n}",
    ])  # fmt: skip


def _at_an_index(s: Scope, name: str) -> list[str]:
    shape = np.shape(s.names[name])
    kinds = ["basic"] * 4 + ["list", "array", "newaxis", "short", "chained"]
    kind = s.one_of(kinds)
    items = [below(s, n) if s.chance(0.5) else _slice(s, n) for n in shape]
    if sum(item == "..." for item in items) > 1:
        items = [":" if item == "..." else item for item in items]
    if kind == "short":
        items = items[:1]
    elif kind == "list":
        n = shape[0]
        items[0] = str(sorted({s.rng.randrange(n) for _ in range(s.rng.randint(1, 3))}))
    elif kind == "array":
        items[0] = s.one_of([f"np.arange({shape[0]})[::-1]", f"np.array([{shape[0] - 1}, 0])", f"K[:2] % {shape[0]}"])
    elif kind == "newaxis":
        items.insert(0, "None")
    if kind == "chained" and len(shape) > 1:
        return _stored(s, f"{name}[{items[0]}][{below(s, 1)}]")
    return _stored(s, f"{name}[{', '.join(items)}]")


def _whole(s: Scope, name: str) -> list[str]:
    if s.chance(0.4):
        return [s.one_of([f"{name}.fill({scalar(s, 1)})", f"{name}[:] = {s.one_of(['0', '1', '2.0', '0.5'])}",
                          f"{name}.fill({s.one_of(['1', '0.0', '2'])})", f"{name}[...] = {scalar(s, 0)}",
                          f"np.copyto({name}, {fitting(s, np.shape(s.names[name]))})", f"{name}.sort()",
                          f"np.put({name}, [0], {scalar(s, 0)})",
                          f"np.fill_diagonal({name}, {scalar(s, 0)})"])]  # fmt: skip
    return _stored(s, name, OPERATORS[3:])


def _through_a_view(s: Scope, name: str) -> list[str]:
    if s.chance(0.3):
        return _stored(s, f"{view(s, name)}[...]")
    v = s.fresh("v")
    lines = [f"{v} = {view(s, name)}"]
    s.run(lines[0])
    if not isinstance(s.names[v], np.ndarray) or not s.names[v].size:
        del s.names[v]
        raise Unusable
    if s.names[v].ndim == 0 or s.chance(0.3):
        return lines + _stored(s, f"{v}[...]")
    return lines + _at_an_index(s, v)


def _overlapping(s: Scope, name: str) -> list[str]:
    """Reads and writes of parts of one array that have elements in common."""
    n = len(s.names[name])
    c = s.one_of(["0.5 * ", "", "", "np.sin(2.0) * "])
    choices = [
        f"{name}[:] = {c}{name}[::-1]", f"{name}[::-1] *= 0.5", f"{name}[:] = {c}{name}[::-1] + {name}",
        f"{name}[::-1] += {c}{name}", f"{name}[:] = np.roll({name}, 1, axis=0)", f"{name} += {name}[::-1]",
        f"{name}[np.arange({n})[::-1]] = {c}{name}",
    ]  # fmt: skip
    if n > 1:
        choices += [f"{name}[1:] = {c}{name}[:-1]", f"{name}[:-1] = {c}{name}[1:]", f"{name}[1:] += {c}{name}[:-1]",
                    f"{name}[:-1] -= 0.3 * {name}[1:]", f"{name}[0], {name}[-1] = {name}[-1], {name}[0]",
                    f"{name}[0] = {name}[1] = {scalar(s, 1)}"]  # fmt: skip
    if n > 2:
        choices += [f"{name}[1:-1] = 0.3 * ({name}[:-2] + {name}[2:])", f"{name}[[0, 1, 2]] = {name}[[2, 0, 1]]"]
    if s.names[name].ndim == 2 and len(set(s.names[name].shape)) == 1:
        choices += [f"{name}[:] = {name}.T", f"{name} += {name}.T", f"{name}.T[0] = {name}[0]"]
    return [s.one_of(choices)]


def _borders(s: Scope, name: str) -> list[str]:
    """Boundary conditions: stores that overlap in corners."""
    value = s.names[name]
    v = lambda: s.one_of(["0", "1", "2", "3", "0.0", "0.5", scalar(s, 0)])
    if value.ndim == 2:
        lines = [f"{name}[0, :] = {v()}", f"{name}[:, 0] = {v()}", f"{name}[-1, :] = {v()}", f"{name}[:, -1] = {v()}",
                 f"{name}[0] = {name}[-1]", f"{name}[:, 0] = {name}[:, -1]"]  # fmt: skip
    else:
        lines = [f"{name}[0] = {v()}", f"{name}[-1] = {v()}", f"{name}[:2] = {v()}", f"{name}[-2:] = {v()}"]
    s.rng.shuffle(lines)
    return lines[: s.rng.randint(2, 4)]


def _swapped(s: Scope, name: str) -> list[str]:
    n = len(s.names[name])
    i, j = below(s, n), below(s, n)
    copied = ".copy()" if s.names[name].ndim > 1 and s.chance(0.7) else ""
    return [f"{name}[{i}], {name}[{j}] = {name}[{j}]{copied}, {name}[{i}]{copied}"]


def _at_a_mask(s: Scope, name: str) -> list[str]:
    value = s.names[name]
    limit = atom(scalar(s, 0))
    if s.chance(0.25):
        mask = s.fresh("m")
        test = f"{name} > {limit}"
        s.run(f"{mask} = {test}")
        return [f"{mask} = {test}", f"{name}[{mask}] = {scalar(s, 1)}", f"{name}[~{mask}] *= 0.5"]
    test = s.one_of([f"{name} > {limit}", f"{name} < 0.3", f"np.arange({len(value)}) % 2 == 0", f"np.abs({name}) < 0.5",
                     f"({name} > 0) & ({name} < {limit})"])  # fmt: skip
    return [s.one_of([
        f"{name}[{test}] = {scalar(s, 1)}", f"{name}[{test}] *= 0.5", f"{name}[{test}] += {scalar(s, 1)}",
        f"{name}[{test}] = {s.one_of(['0', '1', '0.0'])}", f"np.putmask({name}, {test}, {scalar(s, 0)})",
        f"np.copyto({name}, {scalar(s, 0)}, where={test})", f"{name}[{test}] = {name}[{test}] ** 2",
        f"{name}[np.where({test})] -= 0.1", f"{name}[np.nonzero({test})] = {scalar(s, 0)}",
    ])]  # fmt: skip


def _scattered(s: Scope, name: str) -> list[str]:
    n = len(s.names[name])
    places = [s.rng.randrange(-n, n) for _ in range(s.rng.randint(1, 4))]
    value = fitting(s, np.shape(s.value(f"{name}[{places}]")))
    return [s.one_of([
        f"np.add.at({name}, {places}, {value})", f"np.add.at({name}, K[:3] % {n}, {scalar(s, 1)})",
        f"np.subtract.at({name}, {places}, 0.5)", f"np.multiply.at({name}, {places}, 0.5)",
        f"{name}[{sorted({p % n for p in places})}] += {scalar(s, 1)}", f"{name}[K[:3] % {n}] = {scalar(s, 1)}",
        f"np.put_along_axis({name}, np.argsort({name}, axis=0), {scalar(s, 0)}, axis=0)",
        f"np.add.at({name}, ({places},), {value})", f"np.add.at({name}, {s.rng.randrange(n)}, {scalar(s, 1)})",
    ])]  # fmt: skip


def _into_out(s: Scope, name: str) -> list[str]:
    shape = np.shape(s.names[name])
    u = fitting(s, shape)
    others = s.arrays(shape=shape, kinds="f")
    out = s.one_of(others or [name])
    return [s.one_of([
        f"np.add({name}, {u}, out={name})", f"np.multiply({name}, {u}, out={out})", f"np.sin({name}, out={out})",
        f"np.cumsum({name}, axis=0, out={out})", f"np.negative({name}, {out})",
        f"np.clip({name}, -0.5, 0.5, out={name})",
        f"{out}[...] = " + s.one_of(ELEMENTWISE).format(name),
    ])]  # fmt: skip

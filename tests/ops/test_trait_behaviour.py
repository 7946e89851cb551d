"""Traits against behaviour: what a row says of its op is tried out on the calls of `EXAMPLES`."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from op_calls import CALLS, Call, floats

from wengert.ir.orders import order_of_result
from wengert.ops.derive import Control
from wengert.ops.op import TABLE
from wengert.ops.traits import Cost, Raises
from wengert.strides import UNKNOWN, order_of
from wengert.types import shape_of


def calls(wanted) -> list:
    """The calls of those ops of which something is said."""
    return [p for p in CALLS if wanted(TABLE[p.values[0]])]


def apply(name: str, args, c: Call):
    """The results of a call, as a tuple of arrays."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        y = TABLE[name].impl(*args, **c.params)
    return tuple(np.asarray(part) for part in (y if isinstance(y, tuple) else (y,)))


def prepared(c: Call) -> list:
    """The operands that a call hands to the op."""
    return [c.before(a) if c.before and k in floats(c) else a for k, a in enumerate(c.args)]


@pytest.mark.parametrize(("name", "c"), calls(lambda op: op.elementwise))
def test_elementwise(name, c):
    """Elements in another order give the results in that order, and the shape is that of broadcasting."""
    args = prepared(c)
    (y,) = apply(name, args, c)
    shape = np.broadcast_shapes(*[shape_of(a) for a in args])
    assert y.shape == shape
    if not shape:
        return
    whole = [np.broadcast_to(a, shape).ravel() for a in args]
    order = np.random.default_rng(0).permutation(whole[0].size)
    (turned,) = apply(name, [np.ascontiguousarray(a[order]) for a in whole], c)
    np.testing.assert_allclose(turned, y.ravel()[order], rtol=1e-15)


@pytest.mark.parametrize(("name", "c"), calls(lambda op: op.axes and not op.elementwise))
def test_axes(name, c):
    """What is changed at one position of an axis that is cut changes the result at that position only."""
    op, args = TABLE[name], prepared(c)
    before = apply(name, args, c)
    if len(before) > 1:
        return
    shapes = [tuple(shape_of(a)) for a in args]
    for cut in op.axes(shapes, before[0].shape, c.params):
        assert len(cut.needs) == len(args)
        for k, own in enumerate(cut.needs):
            if own is None or cut.axis is None or np.asarray(args[k]).dtype.kind != "f":
                continue
            assert shapes[k][own] == before[0].shape[cut.axis]
            for position in range(shapes[k][own]):
                changed = np.array(args[k])
                changed[(slice(None),) * own + (position,)] *= 1.01
                (after,) = apply(name, [*args[:k], changed, *args[k + 1 :]], c)
                same = np.delete(after, position, cut.axis) == np.delete(before[0], position, cut.axis)
                both_nan = np.isnan(np.delete(after, position, cut.axis)) if after.dtype.kind == "f" else False
                close = np.isclose(
                    np.delete(after, position, cut.axis), np.delete(before[0], position, cut.axis), rtol=1e-12
                )
                assert np.all(same | both_nan | close), (name, cut)


@pytest.mark.parametrize(("name", "c"), calls(lambda op: op.combine))
def test_combine(name, c):
    """Along an axis that is reduced, the results of two parts combine to the result of the whole."""
    op, args = TABLE[name], prepared(c)
    (y,) = apply(name, args, c)
    shapes = [tuple(shape_of(a)) for a in args]
    for cut in op.axes(shapes, y.shape, c.params):
        if cut.axis is not None or any(own is not None and shapes[k][own] < 2 for k, own in enumerate(cut.needs)):
            continue
        parts = []
        for half in (slice(0, 1), slice(1, None)):
            own = [
                a if n is None else np.asarray(a)[(slice(None),) * n + (half,)]
                for a, n in zip(args, cut.needs, strict=True)
            ]
            parts.append(apply(name, own, c)[0])
        np.testing.assert_allclose(TABLE[op.combine].impl(*parts), y, rtol=1e-12)


@pytest.mark.parametrize("name", sorted(name for name, op in TABLE.items() if op.identity is not None))
def test_identity(name):
    op = TABLE[name]
    values = np.array([True, False]) if name.startswith("logical") else np.array([1.5, -2.0, np.inf, 0.0])
    for pair in ((op.identity, values), (values, op.identity)):
        np.testing.assert_array_equal(op.impl(*pair), values)
    if op.reduction is not None:
        assert TABLE[op.reduction].combine == name


@pytest.mark.parametrize("name", sorted(name for name, op in TABLE.items() if op.rounds))
def test_rounds(name):
    """Whole numbers come out, less than one from what comes in; and near them nothing changes."""
    x = np.array([0.3, -1.7, 2.6, 41.2])
    operands = (x, 1.0) if name == "floor_divide" else (x,)
    y = TABLE[name].impl(*operands)
    assert np.all(np.abs(y - x) < 1)
    np.testing.assert_array_equal(y, np.rint(y))
    np.testing.assert_array_equal(y, TABLE[name].impl(x + 1e-3, *operands[1:]))


KINDS = {
    "b": [np.array([True, False, True]), np.array([False, False, True])],
    "i": [np.array([3, -2, 0]), np.array([-1, 5, 0])],
    "u": [np.array([3, 2, 0], np.uint8), np.array([250, 5, 0], np.uint8)],
    "f": [np.array([0.1, -0.0, np.inf, 1e300, 3.7]), np.array([-0.7, 0.0, 2.0, 1e-300, 0.3])],
    "c": [np.array([0.1 + 3j, -0.0, 1e300j]), np.array([-0.7 - 0.2j, 0.0, 1e-300])],
}


@pytest.mark.parametrize("name", sorted(name for name, op in TABLE.items() if op.commutes))
def test_commutes(name):
    """To the last bit."""
    op = TABLE[name]
    for kind in op.commutes:
        x, y = KINDS[kind]
        a, b = op.impl(x, y), op.impl(y, x)
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes(), kind


@pytest.mark.parametrize(("name", "c"), calls(lambda op: any(op.is_linear(k) for k in range(9))))
def test_linear(name, c):
    """Where an op says that it is linear in an operand, f(2 x + 3 y) = 2 f(x) + 3 f(y)."""
    op, args = TABLE[name], prepared(c)
    rng = np.random.default_rng(0)
    for k in floats(c):
        if not op.is_linear(k) or np.asarray(args[k]).dtype.kind not in "fc":
            continue
        jointly = getattr(op, "jointly", False)
        base = [a if p == k or p >= op.data_count(args, c.params) else a * 0 for p, a in enumerate(args)]
        base = base if jointly else list(args)
        x, y = rng.normal(size=np.shape(args[k])), rng.normal(size=np.shape(args[k]))
        x, y = (v.astype(np.asarray(args[k]).dtype) for v in (x, y))

        def f(v, base=base, k=k):
            return apply(name, [*base[:k], v, *base[k + 1 :]], c)[0]

        np.testing.assert_allclose(f(2 * x + 3 * y), 2 * f(x) + 3 * f(y), rtol=1e-9, atol=1e-9)


QUIET = (Raises.NEVER, Raises.INTEGERS, Raises.LENGTHS)
AWKWARD = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, 5e-324)


@pytest.mark.parametrize(("name", "c"), calls(lambda op: op.raises in QUIET))
def test_what_never_raises_does_not(name, c):
    """On operands of the same shapes and awkward values, and, unless it says so, on none at all."""
    op = TABLE[name]
    args = prepared(c)
    count = op.data_count(args, c.params)
    data = [k for k in range(count) if np.asarray(args[k]).dtype.kind in "fc"]
    for value in AWKWARD:
        filled = [np.full_like(a, value) if k in data else a for k, a in enumerate(args)]
        apply(name, filled, c)
    ones = [np.ones_like(a) if k in data else a for k, a in enumerate(args)]
    apply(name, ones, c)  # a singular matrix, equal values
    if op.elementwise and op.raises is Raises.NEVER:
        whole = [np.broadcast_to(a, np.broadcast_shapes(*[shape_of(b) for b in args]) or (1,)) for a in args]
        apply(name, [a[:0] for a in whole], c)


RAISING = {
    "power": ((np.array([2]), np.array([-1])), {}),
    "max": ((np.zeros(0),), {"axis": (0,)}),
    "min": ((np.zeros((0, 2)),), {"axis": (0,)}),
    "nanmax": ((np.zeros(0),), {"axis": (0,)}),
    "nanmin": ((np.zeros(0),), {"axis": (0,)}),
    "argmax": ((np.zeros(0),), {"axis": 0}),
    "argmin": ((np.zeros(0),), {"axis": 0}),
    "logsumexp": ((np.zeros(0),), {"axis": (0,)}),
    "softmax": ((np.zeros(0),), {"axis": (0,)}),
    "fft": ((np.zeros(0),), {"axis": 0, "norm": "backward"}),
    "reshape": ((np.zeros(3),), {"shape": (2,)}),
    "index": ((np.zeros(3),), {"pattern": (7,)}),
    "store": ((np.zeros(3), 1.0), {"pattern": (7,)}),
    "add_at": ((np.zeros(3), 1.0), {"pattern": (-4,)}),
    "scatter": ((1.0,), {"patterns": ((7,),), "shape": (3,)}),
    "cholesky": ((-np.eye(2),), {}),
    "solve": ((np.zeros((2, 2)), np.ones((2, 1))), {}),
    "inv": ((np.zeros((2, 2)),), {}),
    "eigvals": ((np.full((2, 2), np.nan),), {}),
    "svdvals": ((np.full((2, 2), np.nan),), {}),
    "solve_triangular": ((np.zeros((2, 2)), np.ones((2, 1))), {"lower": True, "unit": False}),
    "pinv": ((np.full((2, 2), np.nan),), {"rcond": 1e-15, "hermitian": False}),
    "require": ((False,), {"error": "ValueError", "message": "no"}),
}


@pytest.mark.parametrize("name", RAISING)
def test_what_may_raise_does(name):
    args, params = RAISING[name]
    assert TABLE[name].raises is not Raises.NEVER
    with pytest.raises(Exception, match=r"."), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        TABLE[name].impl(*args, **params)


@pytest.mark.parametrize(("name", "c"), CALLS)
def test_views_and_moves(name, c):
    """What is no view shares no memory with operands or other results; what moves elements computes no new ones."""
    op, args = TABLE[name], [np.array(a) for a in prepared(c)]
    results = apply(name, args, c)
    if not op.view:
        for k, y in enumerate(results):
            assert not any(np.shares_memory(y, a) for a in args), "the result may be a view"
            assert not any(np.shares_memory(y, other) for other in results[:k])
            assert y.flags.writeable or not y.ndim
    else:
        for y in results:
            assert not any(np.shares_memory(y, a) for a in args[1:])
    if op.moves:
        known = np.concatenate([np.zeros(1), *[np.ravel(a) for a in args]])
        assert all(np.all(np.isin(y, known)) for y in results)
    if op.writes:
        assert results[0].shape == args[0].shape
        assert results[0].dtype == args[0].dtype


@pytest.mark.parametrize("name", sorted(name for name, op in TABLE.items() if op.moves or op.expands))
def test_what_moves_elements_is_not_dear(name):
    assert TABLE[name].cost <= Cost.CHEAP


@pytest.mark.parametrize("name", sorted(name for name, op in TABLE.items() if isinstance(op, Control)))
def test_ops_that_hold_code(name):
    op = TABLE[name]
    assert op.raises in (Raises.BODY, Raises.VALUES, Raises.NEVER)
    assert not op.elementwise


@pytest.mark.parametrize(("name", "c"), calls(lambda op: not isinstance(op, Control)))
def test_order_in_memory(name, c):
    """Results lie as in C where the operands do, unless the row or `ir/orders.py` says otherwise."""
    op = TABLE[name]
    args = [np.ascontiguousarray(a) if isinstance(a, np.ndarray) and a.ndim else a for a in prepared(c)]
    for y in apply(name, args, c):
        said = order_of_result(op, args, c.params, y.shape) if y.ndim > 1 else None
        assert said in (UNKNOWN, order_of(y)) or y.ndim < 2

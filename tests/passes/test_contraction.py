"""Sums of products in another order: same numbers but for rounding, less work."""

import numpy as np
import pytest

import wengert.control  # noqa: F401  the ops that hold code
from wengert.ir.check import check
from wengert.ir.interpret import run
from wengert.ir.parse import parse
from wengert.passes.dce import dce
from wengert.passes.simplify import simplify

PARAMS = "%A: f64[2, 3], %B: f64[3, 4], %C: f64[4, 2], %T: f64[5, 2, 3], %i: i64[2, 3], %z: c128[3, 4]"


def simplified(nodes: str, result: str):
    """A block before and after, with the names of the ops that are left; both give the same numbers."""
    before = parse(f"block({PARAMS}) {{ {nodes.replace(';', ' ')} return {result} }}")
    check(before)
    after = before
    for _ in range(3):
        after = dce(simplify(after))
        check(after)
    random = np.random.default_rng(0)
    args = [
        (random.normal(size=p.type.shape) * 8).astype(p.type.dtype.char if p.type.dtype.kind != "c" else complex)
        for p in before.params
    ]
    for x, y in zip(run(before, args), run(after, args), strict=True):
        np.testing.assert_allclose(y, x, rtol=1e-12, atol=1e-12)
    return [(node.op.name, node.params.get("subscripts")) for node in after.nodes]


def test_many_factors_become_pairs_in_the_cheapest_order():
    found = simplified("%y: f64[2, 2] = einsum(%A, %B, %C, subscripts='ab,bc,cd->ad')", "%y")
    assert [name for name, _ in found] == ["einsum", "einsum"]
    assert found[0][1].count(",") == 1


def test_a_letter_of_one_factor_alone_is_summed_before():
    found = simplified("%y: f64[4] = einsum(%A, %B, subscripts='ab,bc->c')", "%y")
    assert [name for name, _ in found] == ["sum", "einsum"]


def test_a_product_without_a_sum_is_a_multiplication():
    found = simplified("%y: f64[2, 4, 3] = einsum(%A, %B, subscripts='ab,bc->acb')", "%y")
    assert {name for name, _ in found} == {"reshape", "transpose", "multiply"}


def test_a_sum_of_a_contraction_is_a_contraction():
    found = simplified(
        "%x: f64[5, 2, 4] = einsum(%T, %B, subscripts='nab,bc->nac'); "
        "%m: f64[5, 2, 4] = negative(%x); %y: f64[2, 4] = sum(%m, axis=(0,), keepdims=False)",
        "%y",
    )
    assert [name for name, _ in found] == ["sum", "einsum", "negative"]


@pytest.mark.parametrize(
    "nodes",
    [
        "%x: f64[2, 4] = einsum(%A, %B, subscripts='ab,bc->ac'); %y: f64[2] = sum(%x, axis=(1,), keepdims=False)",
        "%x: f64[2, 4] = einsum(%A, %B, subscripts='ab,bc->ac'); %y: f64[2, 1] = sum(%x, axis=(1,), keepdims=True)",
        "%x: i64[2] = einsum(%i, %i, subscripts='ab,ab->a'); %y: i64 = sum(%x, axis=(0,), keepdims=False)",
        "%x: c128[3, 4] = einsum(%z, %z, subscripts='ab,ab->ab'); %y: c128[4] = sum(%x, axis=(0,), keepdims=False)",
    ],
)
def test_the_numbers_stay(nodes):
    simplified(nodes, "%y")


def test_a_contraction_that_is_used_elsewhere_stays():
    found = simplified(
        "%x: f64[2, 4] = einsum(%A, %B, subscripts='ab,bc->ac'); %y: f64[2] = sum(%x, axis=(1,), keepdims=False)",
        "%x, %y",
    )
    assert [name for name, _ in found] == ["einsum", "sum"]


def test_a_sum_of_doubled_numbers_is_doubled():
    found = simplified(
        "%d: f64[5, 2, 3] = add(%T, %T); %y: f64[2, 3] = sum(%d, axis=(0,), keepdims=False);"
        " %w: f64[5, 2] = sum(%d, axis=(2,), keepdims=False)",
        "%y, %w",
    )
    assert sorted(name for name, _ in found) == ["add", "add", "sum", "sum"]
    found = simplified("%d: f64[2, 3] = add(%A, %A); %y: f64[2] = sum(%d, axis=(1,), keepdims=False)", "%y, %d")
    assert sorted(name for name, _ in found) == ["add", "add", "sum"]

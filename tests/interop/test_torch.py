"""`wg.to_torch`: NumPy programs in PyTorch's autograd, to any order."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")


def program(p, n):
    out = np.zeros(3)
    for i in range(3):
        out[i] = np.sin(p["a"][i]) * p["b"] ** n
    return np.sum(out**2)


A, B = np.array([0.1, 0.2, 0.3]), 2.0
both = pytest.mark.parametrize("jit", [False, True])


def tensors():
    a = torch.tensor(A, requires_grad=True)
    b = torch.tensor(B, dtype=torch.float64, requires_grad=True)
    return a, b


@both
def test_gradients_of_all_orders(jit):
    g = wg.to_torch(program, jit=jit)
    a, b = tensors()
    y = g({"a": a, "b": b}, 2)
    np.testing.assert_allclose(y.item(), program({"a": A, "b": B}, 2))
    (first,) = torch.autograd.grad(y, a, create_graph=True)
    np.testing.assert_allclose(first.detach(), 2 * np.sin(A) * np.cos(A) * 16)
    (second,) = torch.autograd.grad(first.sum(), a, create_graph=True)
    np.testing.assert_allclose(second.detach(), 2 * np.cos(2 * A) * 16)
    (third,) = torch.autograd.grad(second.sum(), a)
    np.testing.assert_allclose(third, -4 * np.sin(2 * A) * 16)


@both
def test_torch_agrees_with_its_own_differences(jit):
    g = wg.to_torch(program, jit=jit)
    of_tensors = lambda a, b: g({"a": a, "b": b}, 2)
    assert torch.autograd.gradcheck(of_tensors, tensors())
    assert torch.autograd.gradgradcheck(of_tensors, tensors())


def test_inside_a_torch_program():
    g = wg.to_torch(lambda x: np.cumsum(np.exp(x)))
    layer = torch.nn.Linear(3, 3, dtype=torch.float64)
    x = torch.ones(3, dtype=torch.float64)
    g(layer(x)).sum().backward()
    z = layer(x).detach().numpy()
    expected = np.exp(z) * np.array([3.0, 2.0, 1.0])
    np.testing.assert_allclose(layer.bias.grad, expected)


def test_containers_several_results_and_dtypes():
    g = wg.to_torch(lambda x, k: {"double": 2 * x, "parts": (x[0], x[1:] ** k)})
    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float32, requires_grad=True)
    found = g(x, 2)
    assert found["double"].dtype == torch.float32
    (found["parts"][1].sum() + found["double"].sum()).backward()
    np.testing.assert_allclose(x.grad, [2.0, 2 + 4.0, 2 + 6.0])


def test_what_needs_no_gradient_gets_none():
    g = wg.to_torch(lambda x, y: np.sum(x * y))
    x, y = torch.ones(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64, requires_grad=True)
    assert not g(x, x).requires_grad
    g(x, y).backward()
    assert x.grad is None
    assert y.grad is not None


def test_tensors_are_arguments_everywhere_through_dlpack():
    t = torch.arange(3, dtype=torch.float64)
    f = lambda x: np.sum(x**2)
    for derivative in (wg.grad(f), wg.jit(wg.grad(f)), wg.jacfwd(f)):
        np.testing.assert_array_equal(derivative(t), [0.0, 2.0, 4.0])
    assert wg.jit(f)(t) == 5.0
    assert wg.grad(f)(t.clone().requires_grad_()).shape == (3,)
    back = torch.from_dlpack(wg.grad(f)(np.ones(3)))
    assert back.tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(wg.errors.NotDifferentiableInputError):
        wg.grad(f)(torch.arange(3))

"""States of compiled loops on disk (`spill=`)."""

import numpy as np
import pytest

import wengert as wg
from wengert.control import spilled_loop
from wengert.control.states_on_disk import StatesOnDisk
from wengert.errors import BudgetError, UnsupportedFunctionError

U, C = np.linspace(0.1, 1.0, 20), 1.3


def counted(u, c, n=40):
    for k in range(n):
        u = u + 0.01 * np.sin(c * u * np.roll(u, 1)) + 0.001 * k * u.mean()
    return np.sum(u**2)


def until(u, c):
    total = 0.0
    while total < 20.0:
        u = u + 0.01 * np.sin(c * u)
        total = total + np.mean(u)
    return np.sum(u**2)


def drawing(u, c):
    random = np.random.default_rng(3)
    for _ in range(20):
        u = u + 0.1 * random.normal(size=20) * np.sin(c * u)
    return np.sum(u)


@pytest.fixture
def rows(monkeypatch):
    """The numbers of rows that were written and read."""
    counts = {"write": 0, "read": 0}

    def counting(name, own):
        def called(self, *args):
            counts[name] += 1
            return own(self, *args)

        return called

    for name in counts:
        monkeypatch.setattr(StatesOnDisk, name, counting(name, getattr(StatesOnDisk, name)))
    return counts


@pytest.mark.parametrize(
    ("f", "budget"), [(counted, {"memory": "2kB"}), (until, {"memory": "1kB"}), (drawing, {"checkpoints": 1})]
)
def test_all_states_are_written_and_read_once(f, budget, rows, tmp_path):
    expected = wg.grad(f, (0, 1))(U, C)
    found = wg.jit(wg.grad(f, (0, 1), spill=str(tmp_path / "states"), **budget))(U, C)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    assert rows["write"] == rows["read"] > 5
    assert not spilled_loop._OPEN
    assert not list((tmp_path / "states").iterdir()), "the system removes the file"


def test_other_operators(rows, tmp_path):
    budget = {"memory": "2kB", "spill": str(tmp_path)}
    f = lambda u, c: counted(u, c, 12)
    first = wg.grad(f, 1)(U, C)
    np.testing.assert_allclose(wg.grad(wg.jit(f), 1, **budget)(U, C), first, rtol=1e-12)
    assert rows["read"] > 0
    _, pull = wg.vjp(wg.jit(f), U, C, **budget)
    np.testing.assert_allclose(pull(1.0)[1], first, rtol=1e-12)
    with pytest.raises(UnsupportedFunctionError, match="a second time"):
        pull(1.0)


def test_modes_that_do_not_go_through_files(rows, tmp_path):
    """They find the states in memory, or are refused."""
    budget = {"memory": "2kB", "spill": str(tmp_path)}
    f = lambda c: counted(U, c, 5)
    second = wg.grad(wg.grad(f))(C)
    np.testing.assert_allclose(wg.jit(wg.jacfwd(wg.grad(f, **budget)))(C), second, rtol=1e-10)
    assert rows["read"] == 0
    with pytest.raises(UnsupportedFunctionError, match="leave out spill="):
        wg.jvp(wg.jit(wg.grad(f, **budget)), (C,), (1.0,))


def test_the_least_that_is_possible(tmp_path):
    with pytest.raises(BudgetError, match=r'memory="(\d+)B"') as caught:
        wg.jit(wg.grad(counted, memory="100B", spill=str(tmp_path)))(U, C)
    least = str(caught.value).split('memory="')[1].split('"')[0]
    found = wg.jit(wg.grad(counted, memory=least, spill=str(tmp_path)))(U, C)
    np.testing.assert_allclose(found, wg.grad(counted)(U, C), rtol=1e-12)

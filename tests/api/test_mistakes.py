"""Programs with a mistake in them, as users make them: the class of the error, what it says, and whose lines it shows.

Each is run as plain Python where that fails too (`PYTHONS`: the derivative and the compiled function fail alike), or
is refused by us (`OURS`) with a remedy.
"""

from __future__ import annotations

import collections
import dataclasses
import inspect
import io
import logging
import pdb
import traceback
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

import wengert as wg
from wengert import infer, nn, optimize

X = np.array([0.5, 1.5, 2.0])


class AttributesAreItems(dict):
    __getattr__ = dict.__getitem__


class Numbers(list):
    pass


class Plain:
    def __init__(self) -> None:
        self.a = 1.0


@dataclasses.dataclass
class Settings:
    a: float
    n: int = 3


def strange_frames(error: BaseException) -> list[str]:
    """Files of this package, and of the libraries that it computes by, in what Python shows of an error."""
    seen: list[str] = []
    told: BaseException | None = error
    while told is not None:
        seen += [frame.filename for frame in traceback.extract_tb(told.__traceback__)]
        told = told.__cause__ or (None if told.__suppress_context__ else told.__context__)
    ours = wg.__file__.removesuffix("__init__.py")
    return [name for name in seen if name.startswith(ours) or "/numpy/" in name or "/optree/" in name]


PYTHONS: dict[str, Any] = {
    "sum of a number": lambda x: sum(x),
    "any of a number": lambda x: any(x),
    "all of a number": lambda x: all(x),
    "max of a number": lambda x: max(x),
    "list of a number": lambda x: list(x),
    "length of a number": lambda x: len(x),
    "in a number": lambda x: 1.0 in x,
    "item of a number": lambda x: x[0],
    "iteration over a number": lambda x: [2 * i for i in x],
    "unpacking a number": lambda x: [*x],
    "calling a number": lambda x: 2 * x(3),
    "a text and a number": lambda x: "loss: " + x,
    "comparison with a text": lambda x: x < "a",
    "no number": lambda x: x + None,
    "order of a number": lambda x: ord(x),
    "bytes of a number": lambda x: bytes(x),
    "divmod by zero": lambda x: sum(divmod(x, 0)),
    "divmod of a difference": lambda x: sum(divmod(1.0, x - x)),
    "quotient": lambda x: 1 / (x - x),
    "shapes": lambda x: x + np.ones(3) + np.ones(4),
    "shapes under where": lambda x: np.where(np.ones(2) > 0, x * np.ones(3), 0.0),
    "shapes of a product": lambda x: np.ones((2, 3)) @ (x * np.ones(2)),
    "axis": lambda x: np.sum(x * np.ones(3), axis=1),
    "singular": lambda x: np.linalg.solve(np.zeros((2, 2)), x * np.ones(2)).sum(),
    "several numbers as one truth": lambda x: any(x * np.ones((2, 2))),
    "attribute": lambda x: (x * np.ones(2)).summ(),
    "name": lambda x: x * unknown_name,  # type: ignore[name-defined]  # noqa: F821
}


@pytest.mark.parametrize("name", PYTHONS)
def test_what_python_refuses(name):
    f = PYTHONS[name]
    with pytest.raises(Exception) as plain:
        f(2.0)
    for run in (wg.grad(f), lambda x: wg.jvp(f, (x,), (1.0,)), wg.jit(f), wg.jit(wg.grad(f))):
        with pytest.raises(type(plain.value)) as info:
            run(2.0)
        assert not strange_frames(info.value)
        assert not isinstance(info.value, wg.errors.WengertError)
        assert "wengert" not in str(info.value)


def model_without_data(y):
    mu = infer.sample("mu", stats.norm(0, 1))
    infer.observe(y, stats.norm(mu, 1))


async def waits(x):
    return x**2


def yields(x):
    yield x


def square(x):
    return np.sum(x**2)


QUICK = {"draws": 2, "warmup": 2, "chains": 1, "progress": False}
OURS: dict[str, tuple[Any, str]] = {
    "an async function": (lambda: wg.grad(waits)(1.0), "asyncio.run"),
    "an async function, compiled": (lambda: wg.jit(waits)(1.0), "asyncio.run"),
    "a generator function": (lambda: wg.grad(yields)(1.0), "used up inside"),
    "a generator function, compiled": (lambda: wg.jit(yields)(1.0), "(?s)a generator, which.*used up inside"),
    "a number for a function": (lambda: wg.jvp(3, (1.0,), (1.0,)), "wg.jvp wants a function, and was given an int"),
    "an array for a function": (lambda: wg.root(X, square), r"the function itself first: wg.root\(f, x0\)"),
    "a number for a rule's function": (lambda: wg.custom_jvp(3), "wg.custom_jvp wants a function"),  # type: ignore[arg-type]
    "nothing to checkpoint": (lambda: wg.checkpoint(3), "wg.checkpoint wants a function"),  # type: ignore[arg-type]
    "a number for differences": (
        lambda: wg.numerical.grad(3),
        r"(?s)wg.numerical.grad wants .*wg.numerical.grad\(f\)\(x\)",
    ),
    "a text for differences": (lambda: wg.numerical.grad(square)("a"), "cannot change by a small real step"),
    "a function to colour": (lambda: wg.coloring(square, X), r"wg.coloring\(wg.sparsity\(f\)\(x\)\)"),
    "a text for a function": (lambda: wg.symbolic("x**2", 1.0), "wg.symbolic wants a function, and was given a str"),
    "a class method": (lambda: wg.jit(classmethod(square)), "below @classmethod"),
    "a property": (lambda: wg.grad(property(square)), "below @property"),
    "a dict with attributes": (lambda: wg.grad(lambda p: p.a)(AttributesAreItems(a=1.0)), r"pass dict\(x\)"),
    "a list of a class": (lambda: wg.grad(lambda p: p[0])(Numbers([1.0])), r"pass list\(x\)"),
    "a UserDict": (lambda: wg.grad(lambda p: p["a"])(collections.UserDict(a=1.0)), r"pass dict\(x\)"),
    "a set": (lambda: wg.grad(sum)({1.0}), r"pass list\(x\)"),
    "objects": (lambda: wg.grad(square)(X.astype(object)), r"x.astype\(float\)"),
    "an object": (lambda: wg.grad(lambda p: p.a)(Plain()), "a dataclass in its place"),
    "an integer in a dataclass": (lambda: wg.grad(lambda p: p.a**p.n)(Settings(2.0)), "'static': True"),
    "other shapes of examples": (lambda: wg.vmap(lambda x: x[x > 1])(np.stack([X, 4 * X])), "one shape"),
    "a number of another library": (lambda: wg.grad(lambda x: x * mpmath.mpf(2))(1.0), r"float\(r\)"),
    "a function of another library": (lambda: wg.grad(lambda x: mpmath.sin(x))(1.0), "mpmath.*does not take"),
    "a column of an array": (lambda: wg.grad(lambda x: x["a"])(X), "to_numpy"),
    "a memoryview": (lambda: wg.grad(lambda x: memoryview(x * np.zeros(2)))(1.0), "traced value"),
    "bounds": (lambda: optimize.minimize(square, X, bounds=[(1, 0)] * 3), "mend the bounds"),
    "several numbers to minimise": (lambda: optimize.minimize(lambda x: x**2, X), "least_squares"),
    "nothing to minimise": (lambda: optimize.minimize(lambda x: None, X), "`return` missing"),
    "start and function": (lambda: optimize.minimize(X, square), "the function first"),  # type: ignore[arg-type]
    "sizes": (lambda: optimize.solve(lambda x: x[:2], X), "as many numbers"),
    "several log-densities": (lambda: infer.nuts(lambda x: -(x**2), init=X, **QUICK), "np.sum"),
    "layers in a list": (lambda: nn.Sequential([nn.relu]), "one by one"),
    "data for a loss": (lambda: nn.fit(nn.Sequential(nn.relu), X, X), r"the loss is to be a function"),  # type: ignore[arg-type]
    "a loss of results": (lambda: nn.fit(nn.Sequential(nn.relu), nn.mse, (X, X)), r"nn.supervised\(nn.mse\)"),
    "no data": (lambda: infer.nuts(model_without_data, **QUICK), "its data"),
    "data that are not there": (lambda: infer.nuts(model_without_data, np.array([np.nan]), **QUICK), "leave them out"),
}


@pytest.mark.parametrize("name", OURS)
def test_what_is_refused_here(name):
    run, words = OURS[name]
    with pytest.raises((wg.errors.WengertError, IndexError), match=words) as info:
        run()
    assert name == "layers in a list" or not strange_frames(info.value)  # (classes show their __init__)
    assert "remedy: " in str(info.value) or isinstance(info.value, IndexError)


@pytest.mark.filterwarnings("error")
def test_an_option_that_is_not_there():
    for run in (
        lambda: optimize.minimize(square, X, options={"max_iter": 3}),
        lambda: optimize.minimize(square, X, method="LBFGS"),
        lambda: infer.nuts(square, init=X, draws=0),
    ):
        with pytest.raises(ValueError) as info:
            run()
        assert not strange_frames(info.value)
        assert info.value.__suppress_context__ or info.value.__context__ is None


def test_what_is_written_outside():
    outside = np.zeros(3)

    def f(x):
        outside[0] = x[0]
        return np.sum(outside * x)

    for operator in (wg.grad, lambda g: wg.jit(wg.grad(g)), wg.jacfwd):
        with pytest.raises(wg.errors.InPlaceError, match="made outside of the differentiated function"):
            operator(f)(X)
    assert not outside.any()


def test_what_is_kept_outside():
    losses: list[Any] = []

    def f(x):
        losses.append(np.sum(x**2))
        return losses[-1]

    wg.grad(f)(X)
    for use in (float, int, complex, np.asarray, np.mean, lambda y: y + 1, lambda y: y.item(), wg.stop_gradient):
        with pytest.raises(wg.errors.EscapedValueError, match=r"losses.append\(wg.stop_gradient\(loss\)\)"):
            use(losses[0])


def test_what_is_kept_outside_as_a_number():
    losses: list[Any] = []

    def f(x):
        loss = np.sum(x**2)
        losses.append(wg.stop_gradient(loss))
        return loss

    for run in (wg.grad(f), wg.jit(wg.grad(f)), wg.hessian(f), wg.jit(f)):
        losses.clear()
        run(X)
        assert losses == [6.5]


def test_logging_tells_numbers_and_who_has_called(caplog):
    log = logging.getLogger("of a user")

    def f(x):
        log.warning("%.2f %s %d", x[0], {"a": x[1]}, x[2])
        logging.error("%g", np.sum(x), extra={"k": x[0]})
        return np.sum(x)

    for run in (f, wg.grad(f), wg.hessian(f), wg.jacfwd(f)):
        caplog.clear()
        run(X)
        assert [record.getMessage() for record in caplog.records] == ["0.50 {'a': np.float64(1.5)} 2", "4"]
        assert {record.funcName for record in caplog.records} == {"f"}


def test_who_looks_at_frames_sees_the_users():
    names = []

    def f(x):
        names.append((inspect.stack()[0].function, traceback.extract_stack()[-1].name))
        stopped = pdb.Pdb(stdin=io.StringIO("p type(x)\nc\n"), stdout=io.StringIO(), nosigint=True)
        stopped.set_trace()
        y = np.sum(x**2)
        names.append(stopped.stdout.getvalue().splitlines()[0])
        return y

    np.testing.assert_array_equal(wg.grad(f)(X), 2 * X)
    assert names[0] == ("f", "f")
    assert "test_mistakes.py" in names[1]
    assert names[1].endswith("f()")


class AsArray:
    """Its instances are arrays to NumPy."""

    def __init__(self, *values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.array([AsArray(x[0], x[1]), AsArray(x[1], x[2])], dtype=object),
        lambda x: np.array([x[:2], x[1:]], dtype=object),
        lambda x: np.array([[x[:1], x[1:]], [x[:1], x[1:]]], dtype=object),
        lambda x: np.array([x[0], None, x[1]], dtype=object),
    ],
)
def test_arrays_of_objects_have_numpys_shape(f):
    shapes = []
    for operator in (lambda g: g, wg.grad, wg.jacfwd):
        operator(lambda x: shapes.append(f(x).shape) or np.sum(x))(X)
    assert shapes == [shapes[0]] * 3


@pytest.mark.parametrize("container", [tuple, list])
def test_repeated_sequences(container):
    f = lambda x: np.sum(x * 2) + np.max(2 * x) + np.linalg.norm(x * len(x))
    numbers = container([1.0, 2.0])
    for operator in (wg.grad, lambda g: wg.jit(wg.grad(g))):
        np.testing.assert_allclose(operator(f)(numbers), [2 + 2 / 10**0.5, 3 + 4 / 10**0.5])


@pytest.mark.parametrize("call", [
    lambda: wg.checkpoint(lambda x: X @ np.ones(4))(X),
    lambda: wg.custom_jvp(lambda x: X @ np.ones(4))(X),
    lambda: wg.numerical.grad(lambda x: X @ np.ones(4))(X),
    lambda: wg.numerical.jacobian(lambda x: X @ np.ones(4))(X),
    lambda: wg.set_device("somewhere"),
    lambda: wg.set_num_threads(0),
    lambda: wg.sparsity(square, X),
    lambda: wg.coloring(np.eye(3), X),
])  # fmt: skip
def test_errors_of_plain_calls_show_the_users_frames_only(call):
    with pytest.raises(ValueError) as info:
        call()
    assert not strange_frames(info.value)
    assert "ambiguous" not in str(info.value)

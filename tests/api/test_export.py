"""Compiled functions and derivatives as object code for C: loaded without a compiler, and by a C program."""

import ctypes
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import llvmlite.binding as llvm
import numpy as np
import pytest
import scipy.special

import wengert as wg
from wengert.api.export import LIBRARY_SUFFIX
from wengert.backend.llvm.machine import natives
from wengert.backend.llvm.machine.engine import machine_for_files
from wengert.errors import StagingError, UnsupportedFunctionError

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler here")
NUMBERS = {float: ctypes.c_double, int: ctypes.c_int64, bool: ctypes.c_bool, np.float32: ctypes.c_float}
WEIGHTS = np.linspace(-1.0, 1.0, 1000)
_kept = []


def loaded(exported, *names):
    """Functions of an object file, by LLVM's linker: no compiler is needed."""
    ctypes.CDLL(None)
    outside = {f"{r}_": natives.blas(r) or natives.lapack(r) for r in ("dgemm", "dgemv", "dgetrf", "dgetrs", "dpotrf")}
    linker = llvm.create_lljit_compiler(machine_for_files())
    builder = llvm.JITLibraryBuilder().add_object_img(exported.object.read_bytes()).add_current_process()
    for symbol, address in outside.items():
        builder.import_symbol(symbol, address)
    for name in {v.symbol for f in ("sin", "cos", "cosh", "sinh", "log1p") for v in natives.vector_variants(f)}:
        builder.import_symbol(name, natives.address(name))
    for name in names:
        builder.export_symbol(name)
    library = builder.link(linker, "exported")
    _kept.append((linker, library))
    return [ctypes.CFUNCTYPE(ctypes.c_int)(library[name]) for name in names]


def call(function, inputs, outputs):
    """Call a function of C with numbers by value and arrays by pointers."""
    arguments = []
    for x in (*inputs, *outputs):
        if isinstance(x, np.ndarray):
            arguments.append(ctypes.c_void_p(x.ctypes.data))
        else:
            arguments.append(NUMBERS[type(x)](x))
    return ctypes.CFUNCTYPE(ctypes.c_int, *[type(a) for a in arguments])(ctypes.cast(function, ctypes.c_void_p).value)(
        *arguments
    )


def model(x, w, k):
    """Matrix product, loop, table from outside, something that can go wrong."""
    h = np.tanh(w @ x)
    s = 0.0
    for i in range(h.shape[0]):
        s += np.sin(h[i]) * WEIGHTS[i + k]
    return s * np.exp(-x[0]), h


X, W = np.array([0.1, 0.2, 0.3]), np.random.default_rng(0).normal(size=(40, 3))


def test_function_and_products(tmp_path):
    files = wg.jit(model).export(tmp_path / "net", X, W, 3, derivatives=("vjp", "jvp"))
    assert files.header == tmp_path / "net.h"
    f, vjp, jvp, error = loaded(files, "model", "model_vjp", "model_jvp", "model_error")
    value, h = np.zeros(()), np.zeros(40)
    assert call(f, (X, W, 3), (value, h)) == 0
    expected = model(X, W, 3)
    np.testing.assert_allclose(value, expected[0], rtol=1e-13)
    np.testing.assert_allclose(h, expected[1], rtol=1e-13)

    h_bar = np.linspace(0, 1, 40)
    x_bar, w_bar = np.zeros(3), np.zeros((40, 3))
    assert call(vjp, (X, W, 3, 2.0, h_bar), (value, h, x_bar, w_bar)) == 0
    _, pullback = wg.vjp(lambda x, w: model(x, w, 3), X, W)
    for got, want in zip((x_bar, w_bar), pullback((2.0, h_bar)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-15)

    x_dot, w_dot = np.ones(3), np.cos(W)
    value_dot, h_dot = np.zeros(()), np.zeros(40)
    assert call(jvp, (X, W, 3, x_dot, w_dot), (value, h, value_dot, h_dot)) == 0
    _, dots = wg.jvp(lambda x, w: model(x, w, 3), (X, W), (x_dot, w_dot))
    for got, want in zip((value_dot, h_dot), dots, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-15)

    number = call(f, (X, W, 990), (value, h))
    text = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_int)(ctypes.cast(error, ctypes.c_void_p).value)
    assert number > 0
    assert b"IndexError" in text(number)
    assert b"test_export.py" in text(number)
    assert text(0) == b"success"
    assert call(vjp, (X, W, 990, 2.0, h_bar), (value, h, x_bar, w_bar)) not in (0, number)


def test_gradient_jacobian_hessian(tmp_path):
    def energy(p):
        return np.sum(p["a"] ** 3) * p["b"]

    p = {"a": np.array([1.0, 2.0]), "b": 3.0}
    files = wg.jit(energy).export(tmp_path / "energy", p, derivatives="grad")
    (grad,) = loaded(files, "energy_grad")
    value, a_bar, b_bar = np.zeros(()), np.zeros(2), np.zeros(())
    assert call(grad, (p["a"], 3.0), (value, a_bar, b_bar)) == 0
    assert (value, b_bar) == (27.0, 9.0)
    np.testing.assert_allclose(a_bar, 9.0 * p["a"] ** 2, rtol=1e-15)
    assert "int energy_grad(const double *p_a, double p_b, double *out, double *p_a_bar, double *p_b_bar);" in (
        files.header.read_text()
    )

    def cubes(x):
        return x[0] * x**2

    files = wg.jit(cubes).export(tmp_path / "cubes", X, derivatives=["jacobian"])
    (jacobian,) = loaded(files, "cubes_jacobian")
    J = np.zeros((3, 3))
    assert call(jacobian, (X,), (J,)) == 0
    np.testing.assert_allclose(J, wg.jacobian(cubes)(X), rtol=1e-14, atol=1e-16)

    files = wg.jit(lambda x: np.prod(x)).export(tmp_path / "cubes", X, name="volume", derivatives=["hessian"])
    (hessian,) = loaded(files, "volume_hessian")
    assert call(hessian, (X,), (J,)) == 0
    np.testing.assert_allclose(J, wg.hessian(lambda x: np.prod(x))(X), rtol=1e-13, atol=1e-16)


def test_kinds_of_numbers(tmp_path):
    def f(a, z, n, flag, single, m, static):
        m[0] = n
        return z * a.sum(), single * 2, n // 2 if flag else n, ~np.array([flag]), m, 7, static

    a, z = np.arange(4, dtype=np.float32), np.array([1 + 2j, 3 - 1j])
    args = (a, z, 9, True, np.float32(1.5), np.zeros(3), "word */")
    files = wg.jit(f).export(tmp_path / "kinds", *args)
    header = files.header.read_text()
    assert "int f(" in header
    assert "const float *a" in header
    assert "int64_t n" in header
    assert "bool flag" in header
    assert "double *m_new" in header
    assert header.count("*/") == header.count("/*")
    (function,) = loaded(files, "f")
    out = (np.zeros(2, complex), np.zeros((), np.float32), np.zeros((), np.int64), np.zeros(1, bool), np.zeros(3))
    assert call(function, args[:-1], out) == 0
    expected = f(*args)
    for got, want in zip(out[:4], expected, strict=False):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(out[4], [9.0, 0.0, 0.0])


def test_from_several_threads_at_once(tmp_path):
    def f(x):
        y = np.sin(x)
        for _ in range(5):
            y = y + y[::-1] * x
        return y

    x = np.linspace(0, 1, 20_000)  # temporaries are not on the stack
    (function,) = loaded(wg.jit(f).export(tmp_path / "f", x), "f")

    def run(k):
        out = np.zeros_like(x)
        for _ in range(20):
            assert call(function, (x + k,), (out,)) == 0
        return out

    with ThreadPoolExecutor(4) as pool:
        for k, out in enumerate(pool.map(run, range(4))):
            np.testing.assert_allclose(out, f(x + k), rtol=1e-12)


def test_products_of_large_matrices_are_left_to_blas(tmp_path):
    a = np.random.default_rng(1).normal(size=(500, 500)) / 22
    files = wg.jit(lambda a: a @ a @ a).export(tmp_path / "cube", a, name="cube")
    assert "-lblas" in files.header.read_text()
    (function,) = loaded(files, "cube")
    out = np.zeros_like(a)
    assert call(function, (a,), (out,)) == 0
    np.testing.assert_allclose(out, a @ a @ a, rtol=1e-9, atol=1e-10)


# --------------------------------------------------------------------------------------------------- what cannot be


def test_operations_that_live_in_python(tmp_path):
    with pytest.raises(UnsupportedFunctionError, match=r"gammaln.* \(at .*test_export\.py:\d+\)"):
        wg.jit(lambda x: scipy.special.gammaln(x)).export(tmp_path / "f", X)
    with pytest.raises(UnsupportedFunctionError, match=r" \(at .*test_export\.py:\d+\)"):
        wg.jit(lambda x: np.sort(x)[0]).export(tmp_path / "f", X)
    assert not list(tmp_path.iterdir())


def test_selections_by_masks(tmp_path):
    def above(x):
        return x[x > 0.15].sum()

    (f,) = loaded(wg.jit(above).export(tmp_path / "f", X), "above")
    for x in (X, -X, X * 10):
        value = np.zeros(())
        assert call(f, (x,), (value,)) == 0
        np.testing.assert_allclose(value, above(x), rtol=1e-15)


def test_lengths_that_are_not_known(tmp_path):
    with pytest.raises(UnsupportedFunctionError, match="length of out"):
        wg.jit(lambda x, n: x[:n] * 2).export(tmp_path / "f", X, 2)


def test_derivatives_that_there_are_not(tmp_path):
    with pytest.raises(ValueError, match="laplacian"):
        wg.jit(np.sin).export(tmp_path / "f", X, derivatives=["laplacian"])
    with pytest.raises(ValueError, match="no argument"):
        wg.jit(lambda n: n * 2.0).export(tmp_path / "f", 3, derivatives=["grad"])


def test_arrays_from_outside_are_not_written_to(tmp_path):
    memory = np.zeros(3)

    def f(x):
        memory[0] = x
        return memory.sum()

    with pytest.raises(StagingError, match="not given"):
        wg.jit(f).export(tmp_path / "f", 1.0)
    assert memory[0] == 0.0


# ------------------------------------------------------------------------------------------------------- a C program

PROGRAM = r"""
#include <stdio.h>
#include "net.h"

int main(void) {
    double x[NET_X_SIZE] = {0.1, 0.2, 0.3}, w[NET_W_LENGTH0 * NET_W_LENGTH1], value, h[NET_OUT_1_SIZE];
    double h_bar[NET_OUT_1_SIZE] = {0}, x_bar[NET_X_SIZE], w_bar[NET_W_SIZE];
    for (int i = 0; i < NET_W_SIZE; i++) w[i] = 0.01 * i - 0.5;
    if (net_vjp(x, w, 3, 1.0, h_bar, &value, h, x_bar, w_bar)) return 1;
    printf("%.17g %.17g %.17g %.17g %.17g\n", value, h[39], x_bar[0], x_bar[2], w_bar[119]);
    int number = net(x, w, -5000, &value, h);
    printf("%s\n", net_error(number));
    return number ? 0 : 2;
}
"""


@needs_compiler
@pytest.mark.parametrize("how", ["object", "library"])
def test_c_program(tmp_path, how):
    files = wg.jit(model).export(tmp_path / "net", X, W, 3, name="net", derivatives=["vjp"])
    (tmp_path / "main.c").write_text(PROGRAM)
    libraries = files.header.read_text().split("Link with net.o ")[1].split("\n")[0].split()
    if how == "library":
        assert files.library is not None
        assert files.library.suffix == LIBRARY_SUFFIX
        code = [str(files.library), f"-Wl,-rpath,{tmp_path}"]
    else:
        code = [str(files.object)]
    command = [
        COMPILER,
        "-std=c99",
        "-Wall",
        "-Werror",
        str(tmp_path / "main.c"),
        *code,
        *libraries,
        "-o",
        str(tmp_path / "main"),
    ]
    subprocess.run(command, check=True)
    said = subprocess.run([tmp_path / "main"], check=True, capture_output=True, text=True).stdout.splitlines()
    w = (0.01 * np.arange(120) - 0.5).reshape(40, 3)
    (value, h), pullback = wg.vjp(lambda x, w: model(x, w, 3), X, w)
    x_bar, w_bar = pullback((1.0, np.zeros(40)))
    expected = [value, h[39], x_bar[0], x_bar[2], w_bar[39, 2]]
    np.testing.assert_allclose([float(word) for word in said[0].split()], expected, rtol=1e-12)
    assert "IndexError" in said[1]


def test_without_a_compiler(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    files = wg.jit(lambda x: x + 1).export(tmp_path / "inner" / "f.o", X, name="f")
    assert files.library is None
    assert sorted(path.name for path in (tmp_path / "inner").iterdir()) == ["f.h", "f.o"]

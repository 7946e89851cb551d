"""Gradients on a GPU, beside JAX and PyTorch (`compile`), in one run.

`python benchmarks/gpu.py` where CuPy is; peers that are missing are left out. Every tool runs the same formulas, ours
on arrays of CuPy and with `numpy`, JAX's with `jax.numpy`, PyTorch's with its own functions. Results are compared
before anything is timed. Reported are seconds a call (the least of several, each with a synchronisation at its end,
after 0.3 s of such calls), seconds of the first call, and each peer's time ÷ ours.

--only elementwise,mlp chooses cases, --quick takes smaller sizes, --no-peers runs ours only.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

import wengert as wg

WARM = 0.3
"""For so many seconds the device is kept busy before anything is timed: one that has waited runs slowly at first, and
tools differ in how long it waits for their compilers."""


class Case(NamedTuple):
    """A function of arrays that returns one number, for any namespace of array functions; and its arguments."""

    function: Callable
    arguments: list[Any]
    repeats: int = 20
    tolerance: float = 1e-9
    in_jax: Callable | None = None
    without: tuple[str, ...] = ()


def elementwise(x, np):
    return np.sum(np.sin(x) * np.exp(-x) + np.tanh(x) / (1 + x**2))


def mlp(p, x, y, np):
    h = np.tanh(x @ p[0] + p[1])
    h = np.tanh(h @ p[2] + p[3])
    o = h @ p[4] + p[5]
    return -np.mean(np.sum(y * (o - np.log(np.sum(np.exp(o), 1))[:, None]), 1))


def bodies(x, np):
    d = x[:, None, :] - x[None, :, :]
    return np.sum(1 / np.sqrt(np.sum(d * d, 2) + 1e-2))


def stencil(u, steps, np):
    for _ in range(steps):
        middle = u[1:-1, 1:-1]
        inner = middle + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * middle)
        rows = np.concatenate([u[1:-1, :1], inner, u[1:-1, -1:]], 1)
        u = np.concatenate([u[:1], rows, u[-1:]], 0)
    return np.sum(u * u)


def mixture(alphas, means, logs, x, np):
    d = (x[:, None, :] - means[None]) * np.exp(logs)[None]
    terms = alphas + np.sum(logs, 1) - 0.5 * np.sum(d * d, 2)
    top = np.max(terms)
    return np.sum(np.log(np.sum(np.exp(terms - top), 1)) + top)


def lstm(p, xs, np):
    h = np.zeros((xs.shape[1], p[1].shape[0]), dtype=xs.dtype)
    c = h
    for x in xs:
        h, c = cell(p, h, c, x, np)
    return np.sum(h * h)


def cell(p, h, c, x, np):
    z = x @ p[0] + h @ p[1] + p[2]
    i, f, o, u = np.split(z, 4, axis=1)
    c = c / (1 + np.exp(-f)) + np.tanh(u) / (1 + np.exp(-i))
    return np.tanh(c) / (1 + np.exp(-o)), c


def lstm_in_jax(p, xs, np):
    """With `scan`: a loop of 1000 steps is written out otherwise, and compiled for minutes."""
    start = np.zeros((xs.shape[1], p[1].shape[0]), dtype=xs.dtype)
    scan = importlib.import_module("jax").lax.scan
    (h, _), _ = scan(lambda hc, x: (cell(p, *hc, x, np), None), (start, start), xs)
    return np.sum(h * h)


def cases(quick: bool) -> dict[str, Case]:
    """All cases, with arguments on the host."""
    random = numpy.random.default_rng(0)
    normal = lambda *shape: random.normal(size=shape)
    single = lambda *shape: (random.normal(size=shape) / 30).astype(numpy.float32)
    n, width, count = (10**6, 256, 512) if quick else (10**8, 4096, 4096)
    size = (64, 20) if quick else (512, 1000)
    grid, steps = (512, 10) if quick else (4096, 100)
    points = 1000 if quick else 10_000
    labels = numpy.eye(10, dtype=numpy.float32)[random.integers(0, 10, width)]
    parameters = [
        single(1024, width),
        single(width),
        single(width, width),
        single(width),
        single(width, 10),
        single(10),
    ]

    def network(size: int, steps: int) -> tuple[list[Any], Any]:
        return [single(size, 4 * size), single(size, 4 * size), single(4 * size)], single(steps, 64, size) * 30

    return {
        "elementwise": Case(elementwise, [normal(n)]),
        "elementwise, 1000": Case(elementwise, [normal(1000)], 200),
        "mlp": Case(mlp, [parameters, single(width, 1024) * 30, labels], 10, 1e-3),
        "bodies": Case(bodies, [normal(count, 3)], 10),
        "stencil": Case(lambda u, np: stencil(u, steps, np), [normal(grid, grid)], 3),
        "lstm": Case(lstm, [*network(*size)], 3, 1e-2, lstm_in_jax, ("wengert, eager", "torch")),
        "mixture": Case(mixture, [normal(200), normal(200, 64), normal(200, 64) / 10, normal(points, 64)], 5, 1e-8),
    }


# ------------------------------------------------------------------------------------------------------------- tools


class Tool(NamedTuple):
    """How a tool takes gradients with respect to the first argument."""

    gradient: Callable[[Callable], Callable]
    to_device: Callable[[Any], Any]
    to_host: Callable[[Any], Any]
    wait: Callable[[Any], None]


def tools(peers: bool) -> dict[str, Tool]:
    """The tools that are installed, ours first."""
    cupy = importlib.import_module("cupy")
    wait = lambda _: cupy.cuda.get_current_stream().synchronize()
    found = {
        "wengert": Tool(lambda f: wg.jit(wg.grad(lambda *xs: f(*xs, numpy))), cupy.asarray, cupy.asnumpy, wait),
        "wengert, eager": Tool(lambda f: wg.grad(lambda *xs: f(*xs, numpy)), cupy.asarray, cupy.asnumpy, wait),
    }
    for name in ("jax", "torch") if peers else ():
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if name == "jax":
            module.config.update("jax_enable_x64", True)
            jnp = importlib.import_module("jax.numpy")
            found["jax"] = Tool(
                lambda f, jax=module, jnp=jnp: jax.jit(jax.grad(lambda *xs: f(*xs, jnp))),
                jnp.asarray, numpy.asarray, module.block_until_ready,
            )  # fmt: skip
        else:
            found["torch"] = Tool(
                lambda f, torch=module: torch.compile(torch.func.grad(lambda *xs: f(*xs, torch))),
                lambda x, torch=module: torch.asarray(x).cuda(),
                lambda x: x.detach().cpu().numpy(),
                lambda _, torch=module: torch.cuda.synchronize(),
            )
    return found


def each(x: Any, function: Callable) -> Any:
    return [function(item) for item in x] if isinstance(x, list) else function(x)


def measured(tool: Tool, case: Case) -> tuple[Any, float, float]:
    """The gradient on the host, seconds of the first call, and of a call."""
    arguments = [each(x, tool.to_device) for x in case.arguments]
    gradient = tool.gradient(case.function)

    def once() -> tuple[float, Any]:
        start = time.perf_counter()
        result = gradient(*arguments)
        tool.wait(result)
        return time.perf_counter() - start, result

    first, result = once()
    end = time.perf_counter() + WARM
    while time.perf_counter() < end:
        once()
    best = min(once()[0] for _ in range(case.repeats))
    return each(list(result) if isinstance(result, (list, tuple)) else result, tool.to_host), first, best


def differs(a: Any, b: Any, tolerance: float) -> float:
    pairs = zip(a, b, strict=True) if isinstance(a, list) else [(a, b)]
    return max(float(numpy.max(numpy.abs(x - y)) / (numpy.max(numpy.abs(y)) + 1e-300)) for x, y in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--json", default="")
    options = parser.parse_args()
    chosen = [name for name in options.only.split(",") if name]
    found = tools(not options.no_peers)
    rows: dict[str, dict[str, Any]] = {}
    print(f"{'':20} {'':16} {'first':>9} {'call':>10}   ÷ ours")
    for name, case in cases(options.quick).items():
        if chosen and not any(name.startswith(c) for c in chosen):
            continue
        reference, ours = None, None
        for tool_name, tool in found.items():
            if tool_name in case.without:
                continue
            function = case.in_jax if tool_name == "jax" and case.in_jax is not None else case.function
            try:
                result, first, best = measured(tool, case._replace(function=function))
            except Exception as error:  # the others are still of interest
                print(f"{name:20} {tool_name:16} {type(error).__name__}: {str(error).splitlines()[0][:90]}", flush=True)
                continue
            reference, ours = (result, best) if reference is None else (reference, ours)
            off = differs(result, reference, case.tolerance)
            note = "" if off <= case.tolerance else f"   DIFFERS by {off:.1e}"
            print(f"{name:20} {tool_name:16} {first:9.3f} {best:10.2e} {best / ours:8.2f}{note}", flush=True)
            rows.setdefault(name, {})[tool_name] = {"first": first, "call": best, "differs": off}
            del result
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()

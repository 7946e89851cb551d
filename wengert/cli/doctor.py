"""`wengert doctor`: what this installation runs on, and whether compiled code works here."""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import os
import platform
import sys
from collections.abc import Callable
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from wengert import disk
from wengert.api.grad import grad
from wengert.api.jit import jit
from wengert.backend.llvm.threads.threads import get_num_threads
from wengert.cli.showing import table
from wengert.cli.terminal import Terminal

HELP = "versions, processor, LLVM, BLAS, threads and optional packages; tries a gradient and a compilation"
EXAMPLES = """\
  wengert doctor
  wengert doctor --json > report.json                 for a bug report
"""
REQUIRED = ("wengert", "numpy", "scipy", "optree", "llvmlite")
OPTIONAL = {
    "cupy": "arrays on a GPU",
    "dask": "arrays on a cluster",
    "sympy": "symbolic derivatives",
    "torch": "functions for PyTorch",
    "jax": "functions for JAX",
}
FEATURES = ("sse4.2", "avx", "avx2", "fma", "avx512f", "neon", "sve")
THREADS = ("WENGERT_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """This command has no options of its own."""


def run(options: argparse.Namespace, terminal: Terminal) -> int:
    """Print the findings; code 1 if a trial fails."""
    findings: dict[str, dict[str, Any]] = {
        "versions": {"python": platform.python_version(), **{name: version_of(name) for name in REQUIRED}},
        "optional": {name: version_of(name) for name in OPTIONAL},
        "system": {"platform": platform.platform(), "machine": platform.machine(), "executable": sys.executable},
        "processor": processor(),
        "llvm": llvm_facts(),
        "blas": blas(),
        "gpus": gpus(),
        "threads": {
            "cores": os.cpu_count(),
            "of compiled code": get_num_threads(),
            **{name: os.environ.get(name) for name in THREADS},
        },
        "cache": cache(),
        "trials": trials(),
    }
    if terminal.as_json:
        terminal.data(findings)
    else:
        _print(findings, terminal)
    return 0 if all(t == "ok" for t in findings["trials"].values()) else 1


def version_of(name: str) -> str | None:
    """The version of an installed package."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def processor() -> dict[str, Any]:
    """The processor, and which of the instructions it has that make vector code fast."""
    features = dict(llvm.get_host_cpu_features())
    return {"name": llvm.get_host_cpu_name(), "features": [name for name in FEATURES if features.get(name)]}


def llvm_facts() -> dict[str, Any]:
    """LLVM, which comes with llvmlite."""
    return {
        "version": ".".join(map(str, llvm.llvm_version_info)),
        "llvmlite": llvmlite.__version__,
        "triple": llvm.get_default_triple(),
    }


def blas() -> dict[str, Any]:
    """The linear algebra that NumPy was built with."""
    found = np.show_config(mode="dicts")
    library = (found or {}).get("Build Dependencies", {}).get("blas", {})
    return {"name": library.get("name"), "version": library.get("version")}


def gpus() -> dict[str, Any]:
    """The GPUs that CuPy sees."""
    try:
        cupy = importlib.import_module("cupy")
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # no CuPy, no driver, or none that fit each other
        return {"none": "CuPy is not installed" if isinstance(error, ImportError) else f"{error}".splitlines()[0]}
    found = {}
    for k in range(count):
        facts = cupy.cuda.runtime.getDeviceProperties(k)
        name = facts["name"].decode() if isinstance(facts["name"], bytes) else facts["name"]
        found[f"cuda:{k}"] = f"{name}, {facts['totalGlobalMem'] / 2**30:.0f} GiB, sm_{facts['major']}{facts['minor']}"
    return found or {"none": "no device"}


def cache() -> dict[str, Any]:
    """Where compiled code is kept for the next process, and how much there is."""
    files, size = disk.usage()
    place = disk.folder()
    said: dict[str, Any] = {"folder": "off" if place is None else str(place), "files": files,
                            "megabytes": round(size / 1e6, 1)}  # fmt: skip
    problem = None if place is None else disk.why_not(place)
    return said if problem is None else said | {"not used": problem}


def trials() -> dict[str, str]:
    """Small computations whose answer is known. Nothing that was compiled before counts."""
    before = os.environ.get("WENGERT_CACHE")
    os.environ["WENGERT_CACHE"] = "0"
    try:
        return _trials()
    finally:
        del os.environ["WENGERT_CACHE"]
        if before is not None:
            os.environ["WENGERT_CACHE"] = before


def _trials() -> dict[str, str]:
    x = np.array([0.0, 1.0, 2.0])

    def loss(x: Any) -> Any:
        return np.sum(x * x)

    checks: dict[str, Callable[[], Any]] = {
        "gradient": lambda: grad(loss)(x),
        "compiled gradient": lambda: jit(grad(loss))(x),
        "gradient of compiled": lambda: grad(jit(loss))(x),
    }
    found = {}
    for name, attempt in checks.items():
        try:
            found[name] = "ok" if np.array_equal(attempt(), 2 * x) else "wrong"
        except Exception as error:  # the report must be complete whatever is broken
            found[name] = f"{type(error).__name__}: {error}"
    return found


def _print(findings: dict[str, dict[str, Any]], terminal: Terminal) -> None:
    for title, facts in findings.items():
        terminal.say(terminal.paint(title, "bold"))
        rows = [(f"  {name}", _shown(title, name, value)) for name, value in facts.items()]
        for line in table(rows):
            terminal.say(line)
    bad = [name for name, result in findings["trials"].items() if result != "ok"]
    if bad:
        terminal.complain(
            f"{', '.join(bad)} failed", "reinstall with `pip install --force-reinstall wengert`, and report this output"
        )


def _shown(title: str, name: str, value: Any) -> str:
    if value is None:
        return f"not installed ({OPTIONAL[name]})" if title == "optional" else "not set"
    return " ".join(value) or "none" if isinstance(value, list) else str(value)

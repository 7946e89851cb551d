"""Table 4 and figure 5 of the survey: what the gradient of the Helmholtz energy costs, by every way, as n grows.

    python docs/survey/make_timings.py              tables and figures from the times in timings.json
    python docs/survey/make_timings.py --measure    measure again, first

Everything is measured twice: as plain NumPy, where the cost of a call hides that of the arithmetic, and as native code
(`wg.jit`). Times are processor time. They belong to the machine that they were taken on, so they are kept in
`timings.json` with its name, and the tables show ratios. Numbers of operations are the same everywhere; they are
counted whenever this runs.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from drawing import curves
from functions import helmholtz, helmholtz_inputs
from writing import markdown, run

import wengert as wg
from wengert.explain.counting import count_operations

SIZES = (1, 8, 15, 22, 29, 36, 43, 50)
WAYS = ("f", "numerical", "forward", "reverse")
NAMES = {
    "f": "*f*",
    "numerical": "∇*f*, numerical (central)",
    "forward": "∇*f*, forward AD",
    "reverse": "∇*f*, reverse AD",
}
_RESULTS = Path(__file__).parent.parent.parent / "benchmarks" / "results"
BENCHMARKS = (_RESULTS / "compiled.json", _RESULTS / "eager.json")
BY_HAND = ("numba",)  # does not differentiate: the benchmark gives it a gradient written by hand
TIMINGS = Path(__file__).parent / "timings.json"


def central(x, A, b):
    """The gradient by central differences, 2n calls of f."""
    n = len(x)
    h = 6e-6
    out = np.zeros(n)
    for i in range(n):
        up, down = x.copy(), x.copy()
        up[i] += h
        down[i] -= h
        out[i] = (helmholtz(up, A, b) - helmholtz(down, A, b)) / (2 * h)
    return out


def gradients() -> dict[str, Callable]:
    """The function, and its gradient by each way."""
    return {"f": helmholtz, "numerical": central, "forward": wg.jacfwd(helmholtz), "reverse": wg.grad(helmholtz)}


def operations(n: int) -> dict[str, int]:
    """How many operations on numbers each way takes."""
    arguments = helmholtz_inputs(n)
    once = count_operations(helmholtz, *arguments)
    return {
        "f": once,
        "numerical": 2 * n * once,
        "forward": count_operations(wg.jacfwd(helmholtz), *arguments),
        "reverse": count_operations(wg.grad(helmholtz), *arguments),
    }


def measure(sizes: tuple[int, ...] = SIZES, rounds: int = 15, seconds: float = 0.01) -> dict[str, Any]:
    """The seconds of one call, for plain and compiled, for each way and size."""
    found: dict[str, Any] = {"machine": processor(), "python": platform.python_version(), "numpy": np.__version__}
    calls = {}
    for kind, prepare in (("plain", lambda f: f), ("native", wg.jit)):
        for way, f in gradients().items():
            for n in sizes:
                calls[kind, way, n] = bound(prepare(f), helmholtz_inputs(n))
    best = dict.fromkeys(calls, np.inf)
    often = dict.fromkeys(calls, 1)
    for _ in range(rounds):
        for key, call in calls.items():
            while (taken := elapsed(call, often[key])) < seconds:
                often[key] = max(often[key] + 1, int(1.2 * often[key] * seconds / taken))
            best[key] = min(best[key], taken / often[key])
    for kind in ("plain", "native"):
        found[kind] = {way: {str(n): best[kind, way, n] for n in sizes} for way in WAYS}
    return found


def bound(f: Callable, arguments: tuple) -> Callable:
    """The call, made once so that compiling is not measured."""
    f(*arguments)
    return lambda: f(*arguments)


def elapsed(call: Callable, times: int) -> float:
    """Seconds of processor time for so many calls: what else the machine does is not counted."""
    start = process_time()
    for _ in repeat(None, times):
        call()
    return process_time() - start


def processor() -> str:
    """What the machine calls its processor."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def table(times: dict[str, dict[str, float]]) -> str:
    """The survey's table 4: relative to f with n = 1, and to f with the n of the column."""
    sizes = list(times["f"])
    base = times["f"][sizes[0]]
    rows = []
    for way in WAYS:
        rows.append([NAMES[way], "n = 1", *(short(times[way][n] / base) for n in sizes)])
        if way != "f":
            rows.append(["", "this n", *(short(times[way][n] / times["f"][n]) for n in sizes)])
    return markdown(["", "relative to", *sizes], rows, right=range(2, 2 + len(sizes)))


def short(ratio: float) -> str:
    """Three digits, as far as they mean something."""
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.2f}"


def make(out: Path, quick: bool = False) -> None:
    """Write table-4*.md and figure-5*.svg."""
    sizes = SIZES[:3] if quick else SIZES
    if quick:
        found = measure(sizes, rounds=1, seconds=1e-4)
    else:
        found = json.loads(TIMINGS.read_text(encoding="utf-8"))
    counted: dict[str, dict[str, float]] = {way: {} for way in WAYS}
    for n in sizes:
        for way, count in operations(n).items():
            counted[way][str(n)] = count
    for kind, times in (("operations", counted), ("plain", found["plain"]), ("native", found["native"])):
        (out / f"table-4-{kind}.md").write_text(table(times), encoding="utf-8")
        base = times["f"][str(sizes[0])]
        series = {way: [times[way][str(n)] / base for n in sizes] for way in WAYS}
        names = {"f": "f", "numerical": "∇f, numerical", "forward": "∇f, forward AD", "reverse": "∇f, reverse AD"}
        shown = {names[way]: values for way, values in series.items()}
        what = "operations" if kind == "operations" else "time"
        for scale, axes in (("linear", (False, False)), ("log", (False, True))):
            title = f"Helmholtz energy: {what} of the function and of its gradient ({kind}, {scale})"
            label = f"{what}, relative to f with n = 1"
            svg = curves(list(sizes), shown, "n, number of variables", label, title, axes, True)
            (out / f"figure-5-{kind}-{scale}.svg").write_text(svg, encoding="utf-8")
    write_tools(out)
    versions = f"{found['machine']}; Python {found['python']}, NumPy {found['numpy']}"
    machine = f"{versions}; one thread, processor time, shortest of many samples.\n"
    (out / "table-4-machine.md").write_text(machine, encoding="utf-8")


def write_tools(out: Path) -> None:
    """What the gradient costs in other packages, from the benchmarks' own results: compiled ones if there are."""
    for path in BENCHMARKS:
        found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"cases": {}, "tools": {}}
        cases = {int(key.rpartition("-")[2]): c["seconds"] for key, c in found["cases"].items() if "helmholtz" in key}
        series = ratios_of(cases, {tool: facts["title"] for tool, facts in found["tools"].items()})
        if series:
            break
    else:
        (out / "table-4-tools.md").write_text("*Not measured: run `make bench`.*\n", encoding="utf-8")
        return
    rows = [[name, *map(short, ratios)] for name, ratios in series.items()]
    head = ["∇*f* ÷ *f* of NumPy, same n", *map(str, cases)]
    text = markdown(head, rows, right=range(1, len(head)))
    where = f"\nFrom `benchmarks/results/{path.name}`, {found['machine']['processor']}.\n"
    (out / "table-4-tools.md").write_text(text + where, encoding="utf-8")
    label = "time of ∇f ÷ time of f in NumPy, same n"
    title = "Helmholtz energy: the gradient in several packages, relative to the function in NumPy"
    svg = curves(list(cases), series, "n, number of variables", label, title, (True, True), True)
    (out / "figure-5-tools.svg").write_text(svg, encoding="utf-8")


def ratios_of(cases: dict[int, dict[str, float]], titles: dict[str, str]) -> dict[str, list[float]]:
    """For each tool that has all sizes: the time of the gradient over that of NumPy's function."""
    found: dict[str, list[float]] = {}
    for tool, title in titles.items():
        times = [case.get(f"{tool}/derivative", case.get(tool)) for case in cases.values()]
        base = [case.get("numpy/function", case.get("numpy")) for case in cases.values()]
        if cases and tool != "numpy" and None not in times + base:
            name = f"{title}, by hand" if tool in BY_HAND else title
            found[name] = [t / b for t, b in zip(times, base, strict=True)]
    return found


if __name__ == "__main__":
    if "--measure" in sys.argv:
        sys.argv.remove("--measure")
        TIMINGS.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
    run(make, __doc__)

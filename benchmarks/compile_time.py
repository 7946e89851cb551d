"""How long first calls take, phase by phase: programs small and large, with and without LLVM's optimisations.

    python benchmarks/compile_time.py                  # all programs, optimised as users have it
    python benchmarks/compile_time.py --opt 0          # as most tests have it
    python benchmarks/compile_time.py newton dict      # those whose names contain a word
    python benchmarks/compile_time.py --json out.json  # keep the numbers; --against old.json compares with them

Each program is compiled in a process of its own, split off from one in which everything is imported and a trivial
program was compiled, with nothing on disk; the best of several. Times are those of the processor, in milliseconds:
capture (Python to a program, with its derivatives), passes, plan and text of LLVM, LLVM itself, the ways by which
Python calls it (made once for all programs with such arguments and results), loading, all.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import pathlib
import sys
import time

os.environ["WENGERT_CACHE"] = "0"

import numpy as np
import programs_to_compile

import wengert as wg
from wengert.backend import execute
from wengert.backend.llvm import native
from wengert.backend.llvm.machine import objects
from wengert.capture import program

PHASES = ("capture", "passes", "text", "llvm", "ways", "load", "all")


class Clock:
    """Seconds of the processor in some functions, each without the others that it calls."""

    def __init__(self):
        self.spent = dict.fromkeys(PHASES, 0.0)
        self._running = []

    @contextlib.contextmanager
    def phase(self, name):
        self._turn()
        self._running.append([name, time.process_time()])
        try:
            yield
        finally:
            self._turn()
            self._running.pop()

    def _turn(self):
        now = time.process_time()
        if self._running:
            name, since = self._running[-1]
            self.spent[name] += now - since
        for entry in self._running:
            entry[1] = now

    def wrap(self, home, attribute, name):
        function = getattr(home, attribute)

        def timed(*args, **kwargs):
            with self.phase(name):
                return function(*args, **kwargs)

        setattr(home, attribute, timed)


def measured(make):
    """The phases of one program, in this process."""
    clock = Clock()
    clock.wrap(program, "_under_assumptions", "capture")
    clock.wrap(execute, "optimise", "passes")
    clock.wrap(native, "write_kernel", "text")
    clock.wrap(objects, "object_code", "llvm")
    clock.wrap(native, "_ways_to_call", "ways")
    clock.wrap(native, "MachineCode", "load")
    function, arguments = make()
    start = time.process_time()
    function(*arguments)
    clock.spent["all"] = time.process_time() - start
    return clock.spent


def in_a_process_of_its_own(make):
    """The phases of one program, in a process that ends with it."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        with os.fdopen(writing, "w") as pipe:
            json.dump(measured(make), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text)


def line(name, spent, other):
    numbers = "".join([f"{1e3 * spent[phase]:10.0f}" for phase in PHASES])
    ratio = f"{other[name]['all'] / spent['all']:10.2f}" if other and name in other else ""
    return f"{name:28s}{numbers}{ratio}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs="*", help="of the programs' names")
    parser.add_argument("--opt", default="3", help="how much LLVM does, 0 to 3")
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--most", type=float, default=2.0, help="programs that take longer have one sample")
    parser.add_argument("--json", help="where the numbers go")
    parser.add_argument("--against", help="numbers of before")
    options = parser.parse_args()
    os.environ["WENGERT_OPT"] = options.opt
    before = json.loads(pathlib.Path(options.against).read_text()) if options.against else None
    wg.odeint  # noqa: B018  (imports)
    wg.jit(wg.grad(lambda x: np.sum(np.sin(x) * x)))(np.ones(3))  # LLVM, and what all programs share
    print(f"{'program':28s}" + "".join([f"{phase:>10s}" for phase in PHASES]) + ("    before ÷ now" if before else ""))
    found = {}
    for name, make in programs_to_compile.programs().items():
        if options.words and not any(word in name for word in options.words):
            continue
        samples = [in_a_process_of_its_own(make)]
        while len(samples) < options.samples and samples[0]["all"] < options.most:
            samples.append(in_a_process_of_its_own(make))
        found[name] = {phase: min(sample[phase] for sample in samples) for phase in PHASES}
        print(line(name, found[name], before), flush=True)
    mean = {p: math.exp(np.mean([math.log(max(s[p], 1e-4)) for s in found.values()])) for p in PHASES}
    print(line("geometric mean", mean, None), end="")
    both = [name for name in found if before and name in before]
    ratios = [math.log(before[name]["all"] / found[name]["all"]) for name in both]
    print(f"{math.exp(np.mean(ratios)):10.2f}" if ratios else "")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    sys.exit(main())

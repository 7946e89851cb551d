"""Warm start: how long a process that has just begun takes to its first result, if another one has compiled before it.

`measured` starts a process that compiles and leaves its code on disk, in a folder that was empty, and then another one
for each program, which only has to find it. Imports do not count, nor does the call itself, whose time is subtracted.
"""

import json
import os
import subprocess
import sys
import tempfile
from time import perf_counter, process_time

import problems
import tools

TOOL = "wengert_jit"
CLOCKS = {"wall": perf_counter, "cpu": process_time}


def measured(problem: str, size, clock: str) -> dict[str, float]:
    """Return the seconds of the function and of the derivative."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for what in ("function", "derivative"):
            if what == "derivative" and problems.derivative_of(problem) is None:
                continue
            request = json.dumps([problem, problems.compiled_sizes(problem).index(size), what, clock])
            environment = os.environ | {"WENGERT_CACHE": "1", "WENGERT_CACHE_DIR": folder}
            for _ in range(2):
                command = [sys.executable, "-m", "compiled.warm", request]
                done = subprocess.run(command, stdout=subprocess.PIPE, env=environment)
            if done.returncode == 0:
                found[f"{TOOL}/{what}"] = json.loads(done.stdout)
    return found


def main() -> None:
    """Answer the request on the command line with the seconds."""
    problem, number, what, clock = json.loads(sys.argv[1])
    arguments = problems.load(problem).inputs(problems.compiled_sizes(problem)[number])
    tool, now = tools.load(TOOL), CLOCKS[clock]
    start = now()
    function = getattr(tool, what)(problem, arguments)
    function()
    first = now() - start
    start = now()
    function()
    print(json.dumps(max(0.0, first - (now() - start))))


if __name__ == "__main__":
    main()

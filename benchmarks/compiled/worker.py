"""Build, check and time the programs of all tools for one problem; runs in a process of its own.

It is asked by one argument, in JSON: the problem, its sizes, the tools, the settings of the timing, what to leave out,
and whether memory is measured instead of time. It answers on standard output with a line of JSON for each event, so
that whoever started it knows how far it was if it ends early. The events are

- `start`: a program is going to be built; `built`, `failed` or `absent`: what came of it;
- `timing`, then `samples`: the seconds per call in each round, for each case and entry;
- `memory`: the bytes of a call, at their peak.
"""

import json
import os
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import problems
import timing
import tools

from compiled import memory
from compiled.check import Checker
from compiled.families import case_name

WHAT = ("function", "derivative")


def main() -> None:
    """Answer the request on the command line."""
    request = json.loads(sys.argv[1])
    answer = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print is no answer

    def tell(event: str, **details: Any) -> None:
        print(json.dumps({"event": event, **details}), file=answer, flush=True)

    loaded = {}
    for name in request["tools"]:
        try:
            loaded[name] = tools.load(name)
            tell("tool", tool=name, title=loaded[name].TITLE, version=loaded[name].version())
            awaken(loaded[name])
        except Exception as error:  # a peer may fail in any way: it is reported, and the others go on
            tell("missing", tool=name, reason=brief(error))
    functions = {}
    for size in request["sizes"]:
        functions |= built(request, size, loaded, tell)
    if not request["memory"]:
        tell("timing", functions=len(functions))
        samples = timing.interleaved(functions, **request["settings"])
        tell("samples", samples=[[*key, times] for key, times in samples.items()])


def awaken(tool) -> None:
    """Have a tool compile something small first, so that what it does only once is not counted as compiling."""
    arguments = problems.load("square").inputs(3)
    for what in WHAT:
        if hasattr(tool, what):
            try:
                getattr(tool, what)("square", arguments)()
            except problems.NotStated:
                pass


def built(request: dict, size, loaded: dict, tell: Callable) -> dict:
    """Return the programs of all tools for one size that compute the right numbers."""
    problem = request["problem"]
    case = case_name(problem, size)
    left_out = {tuple(pair) for pair in request["skip"]}
    arguments = problems.load(problem).inputs(size)
    checker = Checker(problem, size, arguments)
    ready = {}
    for name, tool in loaded.items():
        if size not in problems.in_own_words(name, problem, problems.compiled_sizes(problem))[1]:
            continue
        for what in WHAT:
            entry = f"{name}/{what}"
            if not hasattr(tool, what) or (case, entry) in left_out:
                continue
            if what == "derivative" and problems.derivative_of(problem) is None:
                continue
            tell("start", case=case, entry=entry)
            try:
                start = perf_counter()
                function = getattr(tool, what)(problem, arguments)
                result = function()
                seconds = perf_counter() - start
                wrong = checker.wrong(what, problems.arranged(name, problem, what)(result))
            except problems.NotStated:
                tell("absent", case=case, entry=entry)
                continue
            except Exception as error:  # likewise
                tell("failed", case=case, entry=entry, reason=brief(error))
                continue
            if wrong is not None:
                tell("failed", case=case, entry=entry, reason=wrong)
                continue
            ready[case, entry] = function
            tell("built", case=case, entry=entry, seconds=seconds)
            if request["memory"]:
                tell("memory", case=case, entry=entry, bytes=memory.peak(function))
    return ready


def brief(error: Exception) -> str:
    """Return the kind of an error and the first line of its message."""
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"


if __name__ == "__main__":
    main()

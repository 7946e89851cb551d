"""Measure the tools on the problems, in one process: started by `run.py`, which sets the scene.

First every tool is prepared for every case and the gradients are checked against each other; then all of them are timed
in turns. What fails is reported and left out. The results go to `results/eager.json`, from which `report.py` makes the
tables.
"""

import json
import platform
import statistics
import sys
from collections.abc import Iterable
from pathlib import Path

import arguments
import check
import goals
import problems
import readme
import report
import timing
import tools

RESULTS = Path(__file__).with_name("results") / "eager.json"
FULL = {"rounds": 25, "seconds": 0.02, "budget": 5.0, "fewest": 3}
QUICK = {"rounds": 3, "seconds": 0.005, "budget": 0.5, "fewest": 1}


def main() -> int:
    """Measure what the command line asks for; return 1 if a tool computed a wrong gradient or failed."""
    options = arguments.parse()
    settings = (QUICK if options.quick else FULL) | {"clock": options.clock}
    chosen = problems.cases(options.only)
    if not chosen:
        print("the eager suite has no such case")
        return 0
    loaded, missing = load_tools(tools.of_suite("eager", options.tools))
    print(f"checking {', '.join(case for case, _, _ in chosen)}", flush=True)
    functions, failed = prepare(chosen, loaded)
    print(f"timing {len(functions)} functions in {settings['rounds']} rounds", flush=True)
    samples = timing.interleaved(functions, **settings)
    results = {
        "machine": {"processor": processor(), "python": platform.python_version(), "system": platform.system()},
        "settings": settings,
        "tools": {name: {"title": tool.TITLE, "version": tool.version()} for name, tool in loaded.items()},
        "missing": missing,
        "cases": {case: case_results(case, problem, size, samples, failed) for case, problem, size in chosen},
    }
    results["notes"] = notes(dict.fromkeys(problem for _, problem, _ in chosen), loaded)
    results["goals"] = [goal.verdict(results) for goal in goals.GOALS]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1))
    text = report.render(results)
    print(f"\n{text}")
    if options.write_readme:
        readme.write("results", text)
    return int(bool(failed))


def load_tools(names: list[str]) -> tuple[dict, dict]:
    """Return the tools that can be imported, and for each of the others why it cannot."""
    loaded, missing = {}, {}
    for name in names:
        try:
            loaded[name] = tools.load(name)
        except Exception as error:  # a peer may fail in any way: it is reported, and the others go on
            missing[name] = brief(error)
            print(f"{name} is not available: {missing[name]}", flush=True)
    return loaded, missing


def prepare(chosen: list, loaded: dict) -> tuple[dict, dict]:
    """Return the function to time for each (case, tool), and for each that fails or computes wrong numbers, why."""
    functions, failed = {}, {}
    for case, problem, size in chosen:
        given = problems.load(problem).inputs(size)
        ready, gradients, wrong = {}, {}, {}
        for name, tool in loaded.items():
            if size not in problems.in_own_words(name, problem)[1]:
                continue
            try:
                ready[name] = tool.prepare(problem, given)
                gradients[name] = ready[name]()
            except problems.NotStated:
                continue
            except Exception as error:  # likewise
                wrong[name] = brief(error)
        gradients.pop("numpy", None)
        wrong |= check.disagreements(problem, given, gradients)
        functions |= {(case, name): function for name, function in ready.items() if name not in wrong}
        failed |= {(case, name): reason for name, reason in wrong.items()}
    for (case, name), reason in failed.items():
        print(f"{case}: {name} is left out: {reason}", flush=True)
    return functions, failed


def case_results(case: str, problem: str, size: int, samples: dict, failed: dict) -> dict:
    """Return what was measured of one case: the time that counts (the shortest), the median, every sample."""
    mine = {name: times for (of, name), times in samples.items() if of == case}
    return {
        "title": problems.load(problem).title(size),
        "seconds": {name: min(times) for name, times in mine.items()},
        "median": {name: statistics.median(times) for name, times in mine.items()},
        "samples": mine,
        "failed": {name: reason for (of, name), reason in failed.items() if of == case},
    }


def notes(names: Iterable[str], loaded: dict) -> dict:
    """Return how the tools' programs differ from NumPy's, for each problem in which they do."""
    found = {name: {tool: problems.in_own_words(tool, name)[0] for tool in loaded} for name in names}
    return {name: said for name, told in found.items() if (said := {tool: note for tool, note in told.items() if note})}


def brief(error: Exception) -> str:
    """Return the kind of an error and the first line of its message."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


def processor() -> str:
    """Return the name of the processor, as far as the system tells."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for entry in information.read_text().splitlines():
            if entry.startswith("model name"):
                return entry.partition(":")[2].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    sys.exit(main())

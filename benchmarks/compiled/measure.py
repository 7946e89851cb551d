"""Measure compiled code: started by `run.py`, which sets the scene.

The results go to `results/compiled.json`, the pictures beside it; the tables are printed.
"""

import json
import platform
import statistics
import sys
from pathlib import Path

import arguments
import problems
import readme
import tools
from measure import processor

from compiled import goals, growth, plots, report, warm
from compiled.families import case_name, chosen
from compiled.process import measured

RESULTS = Path(__file__).parent.parent / "results"
FULL = {"rounds": 15, "seconds": 0.02, "budget": 3.0, "fewest": 3}
QUICK = {"rounds": 3, "seconds": 0.005, "budget": 0.5, "fewest": 1}
PATIENCE = {"full": 300.0, "quick": 120.0}


def main() -> int:
    """Measure what the command line asks for; return 1 if something failed or computed wrong numbers."""
    options = arguments.parse()
    wanted = chosen(options.only)
    if not wanted:
        print("the compiled suite has no such case")
        return 0
    settings, patience = (QUICK, PATIENCE["quick"]) if options.quick else (FULL, PATIENCE["full"])
    settings = settings | {"clock": options.clock}
    asked = tools.of_suite("compiled", options.tools)
    results: dict = {
        "machine": {"processor": processor(), "python": platform.python_version(), "system": platform.system()},
        "settings": settings,
        "tools": {},
        "missing": {},
        "cases": {},
        "notes": {},
    }
    for family, problem, sizes in wanted:
        print(f"{problem}: {', '.join(map(str, sizes))}", flush=True)
        taking_part = [name for name in asked if name in family.tools]
        found = measured(problem, sizes, taking_part, settings, patience, of_memory=False)
        most = {"memory": {}}
        if family.memory:
            most = measured(problem, sizes[-1:], taking_part, settings, patience, of_memory=True)
        results["tools"] |= found["tools"]
        results["missing"] |= found["missing"]
        started = warm.measured(problem, sizes[-1], options.clock) if warm.TOOL in taking_part else {}
        for size in sizes:
            results["cases"][case_name(problem, size)] = case_results(family.name, problem, size, found, most)
        results["cases"][case_name(problem, sizes[-1])]["warm"] = started
        if said := notes(problem, taking_part):
            results["notes"][problem] = said
        save(results)
    results["tools"] = {name: results["tools"][name] for name in asked if name in results["tools"]}
    results["growth"] = growth.of(results["cases"])
    results["goals"] = [goal.verdict(results["cases"]) for goal in goals.GOALS]
    save(results)
    drawn = plots.draw(results, RESULTS)
    print(f"\n{report.render(results, drawn)}")
    if options.write_readme:
        readme.write("compiled", report.render(results, drawn))
    return int(any(case["failed"] for case in results["cases"].values()))


def case_results(family: str, problem: str, size, found: dict, most: dict) -> dict:
    """Return what was measured of one case: the time that counts (the shortest), the median, and the rest."""
    case = case_name(problem, size)
    mine = {entry: times for (of, entry), times in found["samples"].items() if of == case}
    return {
        "title": problems.load(problem).title(size),
        "family": family,
        "problem": problem,
        "size": size,
        "derivative": problems.derivative_of(problem),
        "seconds": {entry: min(times) for entry, times in mine.items()},
        "median": {entry: statistics.median(times) for entry, times in mine.items()},
        "samples": mine,
        "build": {entry: seconds for (of, entry), seconds in found["build"].items() if of == case},
        "memory": {entry: count for (of, entry), count in most["memory"].items() if of == case and count is not None},
        "warm": {},
        "failed": {entry: reason for (of, entry), reason in found["failed"].items() if of == case},
    }


def notes(problem: str, names: list[str]) -> dict[str, str]:
    """Return how the tools' programs differ from NumPy's."""
    found = {name: problems.in_own_words(name, problem, ())[0] for name in names}
    return {name: note for name, note in found.items() if note}


def save(results: dict) -> None:
    """Write the results as far as they are known."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "compiled.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    sys.exit(main())

"""`python -m fuzz`: hunt for programs that fail, show one, or shrink one. Run it in the folder `tests`."""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
os.environ.setdefault("WENGERT_CACHE", "0")  # what is hunted is compiling itself
os.environ.setdefault("WENGERT_POISON", "1")
os.environ.setdefault("WENGERT_FULL_TRACEBACK", "1")  # errors are grouped by the line of ours that they come from

import argparse
import itertools
import secrets
import sys
from pathlib import Path

from fuzz.compositions import EVERY, Check
from fuzz.hunt import choose_ways, compositions_for, hunt, work
from fuzz.program import generated, text_of
from fuzz.scope import FEATURES
from fuzz.shrink import runnable, shrunk


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument(
        "what", choices=["hunt", "show", "check", "shrink", "work"], help="show, check and shrink take --seed"
    )
    parser.add_argument("--seed", type=int, help="of the first program; fresh if not given")
    parser.add_argument("--count", type=int, help="how many programs")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to hunt")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes")
    parser.add_argument("--compositions", type=int, default=3, help=f"how many for each program, of {len(EVERY)}")
    parser.add_argument("--composition", help="the one to shrink; the first that fails if not given")
    parser.add_argument("--statements", type=int, default=12, help="of a program at most, about")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for one composition of one program")
    parser.add_argument(
        "--shrink", type=float, default=60.0, help="seconds to make a failing program smaller; 0: do not"
    )
    parser.add_argument("--features", default="", help=f"weights, as in loops=3,views=0; of {', '.join(FEATURES)}")
    parser.add_argument("--into", type=Path, help="a folder for shrunk programs, besides printing them")
    options = parser.parse_args()
    features = {name: float(w) for name, _, w in [item.partition("=") for item in options.features.split(",") if item]}
    if unknown := set(features) - set(FEATURES):
        parser.error(f"no such feature: {', '.join(unknown)}")
    if options.what == "work":
        work(options.compositions, features, options.statements, options.limit, options.shrink)
        return 0
    seed = secrets.randbelow(10**9) if options.seed is None else options.seed
    if options.what == "hunt":
        seeds = iter(range(seed, seed + options.count)) if options.count else itertools.count(seed)
        seconds = 10**9 if options.count and "--seconds" not in " ".join(sys.argv) else options.seconds
        arguments = [f"--compositions={options.compositions}", f"--statements={options.statements}",
                     f"--limit={options.limit}", f"--shrink={options.shrink}",
                     f"--features={options.features}"]  # fmt: skip
        print(f"first seed {seed}", flush=True)
        tally = hunt(seeds, options.jobs, seconds, arguments, options.into)
        print("\n" + tally.report())
        return 1 if tally.bad else 0
    choose_ways(seed)
    program = generated(seed, features, options.statements)
    if options.what == "show":
        print(text_of(program))
        return 0
    check = Check(program, options.limit)
    print(text_of(program))
    if not check.useful():
        print("says nothing")
        return 0
    names = (
        [options.composition]
        if options.composition
        else compositions_for(seed, options.compositions, program.has_state)
    )
    status = 0
    for name in names:
        outcome = check.run(name)
        print(f"{outcome.kind:8} {name}  {outcome.reason}")
        if outcome.is_bad or (options.composition and outcome.kind != "same"):
            status = 1
            if options.what == "check":
                print(outcome.detail)
            else:
                small = shrunk(program, name, outcome, options.shrink)
                print(runnable(small, name, Check(small, options.limit).run(name)))
                break
    return status


if __name__ == "__main__":
    sys.exit(main())

"""Hunting: programs without end in worker processes, which are started again when they crash.

A worker reads seeds and writes one line of JSON for each program. It works on one at a time, so the program that
crashed it, or took too long, is known.
"""

from __future__ import annotations

import gc
import json
import os
import queue
import random
import re
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fuzz.compositions import EVERY, SEQUENCES, Check
from fuzz.program import generated, text_of
from fuzz.shrink import runnable, shrunk
from fuzz.sizes import count_as_large

HARD_LIMIT = 180.0
"""Seconds for one program in all its compositions, and for shrinking it; then its process is killed."""
REPORT_EVERY = 300.0


def compositions_for(seed: int, count: int, has_state: bool = False) -> list[str]:
    """Some compositions for a program, or all of them; compiling it as it is, always."""
    if has_state:
        return [*SEQUENCES]
    if count >= len(EVERY):
        return EVERY
    chosen = random.Random(f"compositions {seed}").sample(EVERY, count)
    return list(dict.fromkeys(["wg.jit(f)", *chosen]))[: max(count, 1)]


def choose_ways(seed: int) -> None:
    """One program in three is compiled as if its arrays were large. For one in eight LLVM does all it can, and for the
    others what it was told: most time would be its own."""
    count_as_large(seed % 3 == 1)
    if seed % 8 == 0:
        os.environ["WENGERT_OPT"] = "3"
    else:
        os.environ.update(_told)


_told = {"WENGERT_OPT": os.environ.get("WENGERT_OPT", "0")}


def work(count: int, features: dict[str, float], statements: int, limit: float, shrinking: float) -> None:
    """What a worker does: seeds come in, outcomes go out."""
    os.environ.setdefault("WENGERT_CACHE", "0")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    gc.collect()
    gc.freeze()  # collections need not look at what was imported
    known: set = set()
    for line in sys.stdin:
        seed = int(line)
        choose_ways(seed)
        program = generated(seed, features, statements)
        check = Check(program, limit)
        found: dict[str, Any] = {"seed": seed, "outcomes": [], "smaller": []}
        if check.useful():
            for name in compositions_for(seed, count, program.has_state):
                _say({"seed": seed, "at": name})
                start = time.monotonic()
                outcome = check.run(name)
                found["outcomes"].append([name, outcome.kind, outcome.reason, round(time.monotonic() - start, 2)])
                if outcome.is_bad and shrinking and outcome.group not in known:
                    known.add(outcome.group)
                    small = shrunk(program, name, outcome, shrinking)
                    again = Check(small, limit).run(name)
                    found["smaller"].append([*outcome.group, name, runnable(small, name, again)])
        _say(found)


def _say(found: dict) -> None:
    print(json.dumps(found), flush=True)


class Worker:
    """A process that runs programs, and the one it is at. A thread puts what it says into a queue."""

    def __init__(self, arguments: list[str], lines: queue.Queue):
        self.arguments, self.lines = arguments, lines
        self.seed, self.at, self.since = -1, "", 0.0
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "fuzz", "work", *self.arguments]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            cwd=Path(__file__).parent.parent,
        )  # fmt: skip
        threading.Thread(target=self._listen, args=(self.process,), daemon=True).start()

    def _listen(self, process: subprocess.Popen) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self.lines.put((self, process, line))
        self.lines.put((self, process, ""))

    def give(self, seed: int) -> None:
        self.seed, self.at, self.since = seed, "", time.monotonic()
        assert self.process.stdin is not None
        self.process.stdin.write(f"{seed}\n")
        self.process.stdin.flush()

    def ended(self, kind: str, why: str) -> dict:
        return {"seed": self.seed, "outcomes": [[self.at, kind, why, 0.0]], "smaller": []}

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


class Tally:
    """What was found so far."""

    def __init__(self, into: Path | None = None):
        self.programs = self.useless = self.runs = 0
        self.kinds: Counter = Counter()
        self.groups: Counter = Counter()
        self.examples: dict[tuple, tuple] = {}
        self.into = into

    def add(self, found: dict) -> None:
        self.programs += 1
        self.useless += not found["outcomes"]
        for name, kind, reason, _ in found["outcomes"]:
            self.runs += 1
            self.kinds[kind] += 1
            if kind != "same":
                self.groups[kind, reason] += 1
                self.examples.setdefault((kind, reason), (found["seed"], name))
        for kind, reason, name, text in found["smaller"]:
            print(f"\n{'=' * 100}\n{kind}: {reason}\nseed {found['seed']}: {name}\n\n{text}", flush=True)
            if self.into:
                self.into.mkdir(parents=True, exist_ok=True)
                slug = re.sub(r"[^a-zA-Z]+", "-", f"{kind} {reason}").strip("-")[:60]
                (self.into / f"{slug}-{found['seed']}.py").write_text(text, encoding="utf-8")

    def report(self) -> str:
        lines = [f"{self.programs} programs ({self.useless} say nothing), {self.runs} runs: "
                 + ", ".join(f"{n} {kind}" for kind, n in self.kinds.most_common())]  # fmt: skip
        for kind in ("crash", "wrong", "error", "slow", "refusal"):
            rows = [(n, reason) for (k, reason), n in self.groups.most_common() if k == kind]
            if rows:
                lines.append(f"\n{kind}")
                for n, reason in rows:
                    seed, name = self.examples[kind, reason]
                    lines.append(f"{n:6d}  {reason}  (seed {seed}: {name})")
        return "\n".join(lines)

    @property
    def bad(self) -> int:
        return sum(n for kind, n in self.kinds.items() if kind not in ("same", "refusal"))


def hunt(seeds: Iterator[int], jobs: int, seconds: float, arguments: list[str], into: Path | None = None) -> Tally:
    """Run programs until time or seeds are used up; what was found so far is printed now and then."""
    tally = Tally(into)
    reported = time.monotonic()
    end = time.monotonic() + seconds
    lines: queue.Queue = queue.Queue()
    workers = [Worker(arguments, lines) for _ in range(jobs)]
    busy = set()

    def give_next(worker: Worker) -> None:
        seed = next(seeds, None) if time.monotonic() < end else None
        if seed is None:
            busy.discard(worker)
        else:
            busy.add(worker)
            worker.give(seed)

    try:
        for worker in workers:
            give_next(worker)
        while busy:
            if time.monotonic() - reported > REPORT_EVERY:
                reported = time.monotonic()
                print("\n" + tally.report(), flush=True)
            try:
                worker, process, line = lines.get(timeout=1.0)
            except queue.Empty:
                for worker in [w for w in busy if time.monotonic() - w.since > HARD_LIMIT]:
                    tally.add(worker.ended("slow", "killed after the hard limit"))
                    worker.stop()
                    worker.start()
                    give_next(worker)
                continue
            if process is not worker.process:
                continue  # the last words of one that was killed
            if line:
                found = json.loads(line)
                if "at" in found:
                    worker.at = found["at"]
                    continue
                tally.add(found)
            else:
                code = process.wait()
                tally.add(worker.ended("crash", signal.Signals(-code).name if code < 0 else f"exit status {code}"))
                worker.start()
            give_next(worker)
    finally:
        for worker in workers:
            worker.stop()
    return tally


__all__ = ["Tally", "choose_ways", "compositions_for", "generated", "hunt", "text_of", "work"]

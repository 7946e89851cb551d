"""Who runs the chains of a sampler: threads, processes, or workers of a Dask cluster; and the line that shows how far.

A chain has a generator of its own, so its draws are the same wherever it runs. Whoever runs it looks now and then
whether it is to stop: after Ctrl-C what there is is returned.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from multiprocessing.connection import wait as wait_for
from typing import Any, Protocol

import numpy as np

from wengert.errors import WengertError


class ChainsError(WengertError, ValueError):
    """Chains that cannot be run as was asked for."""

    page = "models"


class RunningChain(Protocol):
    """What is asked of a chain here."""

    done: int
    latest: np.ndarray
    divergences: int
    watcher: Any

    def run(self, stop: Any) -> None: ...

    def results(self) -> dict[str, Any]: ...

    def take(self, results: dict[str, Any]) -> None: ...

    def sent(self) -> Any: ...


def run_all(chains: Sequence[RunningChain], workers: Any, total: int, progress: bool) -> bool:
    """Run all chains, each of which has so many transitions; whether somebody pressed Ctrl-C.

    `workers` is how many run at a time in threads (by default as there are cores), "processes", or a Dask client.
    """
    bar = ChainsBar(chains, len(chains) * total, progress)
    if hasattr(workers, "submit") and hasattr(workers, "scheduler_info"):
        interrupted = _on_a_cluster(chains, workers, bar)
    elif workers == "processes":
        interrupted = _in_processes(chains, bar)
    elif workers is None or (isinstance(workers, (int, np.integer)) and workers >= 1):
        interrupted = _in_threads(chains, min(len(chains), int(workers or os.cpu_count() or 1)), bar)
    else:
        raise ChainsError(
            f"workers={workers!r}",
            remedy='give a number of threads, "processes", or a client of dask.distributed',
        )
    bar.close()
    return interrupted


def _in_threads(chains: Sequence[RunningChain], workers: int, bar: ChainsBar) -> bool:
    stop, interrupted = threading.Event(), False
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(chain.run, stop) for chain in chains]
        pending = set(futures)
        while pending:
            try:
                _, pending = wait(pending, timeout=0.1 if bar.shows else None)
                bar.show()
            except KeyboardInterrupt:
                interrupted = True
                stop.set()
    for future in futures:
        future.result()
    return interrupted


def _in_processes(chains: Sequence[RunningChain], bar: ChainsBar) -> bool:
    """One process for each chain, as many at a time as there are cores: copies of this one, with all its code."""
    if "fork" not in multiprocessing.get_all_start_methods():
        raise ChainsError(
            'workers="processes" needs processes that are copies of this one (fork), which this system does not have',
            remedy="use threads (the default), which run compiled code at the same time, or a Dask client",
        )
    context = multiprocessing.get_context("fork")
    stop, interrupted = context.Event(), False
    waiting = list(chains)
    running: dict[Any, RunningChain] = {}
    processes: list[Any] = []
    raised: Exception | None = None
    while waiting or running:
        try:
            while waiting and len(running) < (os.cpu_count() or 1) and not stop.is_set():
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_child, args=(waiting[0], theirs, stop), daemon=True)
                process.start()
                theirs.close()
                processes.append(process)
                running[ours] = waiting.pop(0)
            if stop.is_set():
                waiting = []
            ready: list[Any] = wait_for(list(running), timeout=0.1)
            for connection in ready:
                chain = running[connection]
                try:
                    kind, what = connection.recv()
                except EOFError:
                    kind, what = "raised", ChainsError("a process that ran a chain has died")
                if kind == "progress":
                    chain.done, chain.latest, chain.divergences = what
                    continue
                if kind == "results":
                    chain.take(what)
                else:
                    raised = raised or what
                    stop.set()
                del running[connection]
            bar.show()
        except KeyboardInterrupt:
            interrupted = True
            stop.set()
    for process in processes:
        process.join()
    if raised is not None:
        raise raised
    return interrupted


def _child(chain: RunningChain, connection: Any, stop: Any) -> None:
    """What a process does: Ctrl-C is for the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    latest = 0.0

    def watcher() -> None:
        nonlocal latest
        if time.perf_counter() - latest > 0.1:
            latest = time.perf_counter()
            connection.send(("progress", (chain.done, chain.latest, chain.divergences)))

    chain.watcher = watcher
    try:
        chain.run(stop)
        connection.send(("results", chain.results()))
    except Exception as error:
        connection.send(("raised", error))
    finally:
        connection.close()


def _on_a_cluster(chains: Sequence[RunningChain], client: Any, bar: ChainsBar) -> bool:
    """Chains as tasks of Dask: each worker compiles for itself."""
    distributed = importlib.import_module("distributed")
    name = f"wengert-{os.getpid()}-{time.time_ns()}"
    event, interrupted = distributed.Event(name, client=client), False
    futures = [client.submit(_task, chain.sent(), name, pure=False) for chain in chains]
    pending = set(range(len(futures)))
    try:
        while pending:
            try:
                for k in sorted(pending):
                    if futures[k].done():
                        chains[k].take(futures[k].result())
                        pending.discard(k)
                bar.show()
                time.sleep(0.05)
            except KeyboardInterrupt:
                interrupted = True
                event.set()
    finally:
        event.set()
    return interrupted


def _task(sent: Any, name: str) -> dict[str, Any]:
    """What a worker of Dask does with a chain: make it anew, and run it."""
    chain = sent.chain()
    chain.run(_NamedStop(importlib.import_module("distributed").Event(name)))
    return chain.results()


class _NamedStop:
    """Whether a cluster is to stop: asked twice a second at most, since it takes a message."""

    def __init__(self, event: Any):
        self.event, self.asked, self.found = event, 0.0, False

    def is_set(self) -> bool:
        if not self.found and time.perf_counter() - self.asked > 0.5:
            self.asked, self.found = time.perf_counter(), bool(self.event.is_set())
        return self.found


class ChainsBar:
    """One line on a terminal: how far the chains are, step size, divergences, depth."""

    def __init__(self, chains: Sequence[RunningChain], total: int, progress: bool):
        self.chains, self.total = chains, total
        self.shows = progress and sys.stderr.isatty()

    def show(self) -> None:
        if not self.shows:
            return
        done = sum(c.done for c in self.chains)
        step = float(np.mean([c.latest[1] for c in self.chains]))
        depth = float(np.mean([c.latest[2] for c in self.chains]))
        divergences = sum(c.divergences for c in self.chains)
        filled = int(30 * done / max(self.total, 1))
        bar = "#" * filled + "." * (30 - filled)
        text = f"{done}/{self.total}, step size {step:.3g}, tree depth {depth:.1f}, divergences {divergences}"
        sys.stderr.write(f"\r[{bar}] {text}   ")
        sys.stderr.flush()

    def close(self) -> None:
        self.show()
        if self.shows:
            sys.stderr.write("\n")

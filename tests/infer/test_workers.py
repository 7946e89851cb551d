"""Chains in threads, processes and on a cluster: the same draws; after Ctrl-C what there is."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy import stats

from wengert import infer
from wengert.infer import blas_threads, chains, workers
from wengert.infer.workers import ChainsError

Y = np.array([1.0, 2.0, 4.0])


def model(y):
    mu = infer.sample("mu", stats.norm(0, 10))
    sigma = infer.sample("sigma", stats.halfnorm(0, 1))
    infer.observe(y, stats.norm(mu, sigma))


def sampled(workers):
    return infer.nuts(model, Y, draws=60, warmup=60, chains=3, seed=5, progress=False, workers=workers)


def test_threads_and_processes_give_the_same_draws():
    one, *others = [sampled(workers) for workers in (1, 3, "processes")]
    for other in others:
        np.testing.assert_array_equal(one.unconstrained, other.unconstrained)
        assert one.info["gradients"] == other.info["gradients"]
        for name, values in one.stats.items():
            np.testing.assert_array_equal(values, other.stats[name])


@pytest.mark.slow
def test_workers_of_a_cluster_give_the_same_draws():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = sampled(client)
    np.testing.assert_array_equal(found.unconstrained, sampled(2).unconstrained)


def test_other_workers_are_refused():
    with pytest.raises(ChainsError, match="workers='many'"):
        sampled("many")


def failing(y):
    mu = infer.sample("mu", stats.norm(0, 10))
    infer.factor(np.inf * mu * 0)


def test_what_a_chain_raises_in_a_process_is_raised_here():
    with pytest.raises(infer.ModelError, match="no point was found"):
        infer.nuts(failing, Y, draws=5, warmup=5, chains=2, workers="processes", progress=False)


INTERRUPTED = """
import os, signal, sys, threading
sys.path.insert(0, {folder!r})
import numpy as np
from test_workers import Y, model
from wengert import infer

for workers in (2, "processes"):
    for seconds in (2, 4, 8, 16, 32):
        timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            result = infer.nuts(model, Y, draws=10**8, warmup=50, chains=2, workers=workers, progress=False)
        except KeyboardInterrupt:  # before there was a draw
            continue
        assert result.info["interrupted"] and "interrupted" in " ".join(result.info["notes"])
        chains, draws = result.draws["mu"].shape
        assert chains >= 1 and 0 < draws < 10**8 and np.all(np.isfinite(result.draws["mu"]))
        print("returned", workers)
        break
"""


@pytest.mark.slow
def test_after_ctrl_c_there_is_what_there_is(request):
    program = textwrap.dedent(INTERRUPTED.format(folder=str(request.path.parent)))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=200)
    assert done.stdout.split("\n")[:2] == ["returned 2", "returned processes"], done.stderr


def test_chains_share_the_cores_of_linear_algebra(monkeypatch):
    """Each chain has its share, whoever else samples at the same time; afterwards everything is as before."""
    libraries = blas_threads._libraries()
    if not libraries:
        pytest.skip("another library than OpenBLAS")
    before, seen = [get() for get, _ in libraries], []

    def get():
        numbers = {get() for get, _ in libraries}
        return numbers.pop() if len(numbers) == 1 else numbers

    def set_to(numbers):
        for number, (_, set_one) in zip(numbers, libraries, strict=True):
            set_one(number)

    def run_all(*args):
        seen.append(get())
        return workers.run_all(*args)

    monkeypatch.setattr(chains, "run_all", run_all)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    try:
        set_to([2] * len(libraries))
        first, second = blas_threads.shared_among(3), blas_threads.shared_among(1)
        first.__enter__()
        second.__enter__()
        seen.append(get())
        first.__exit__(None, None, None)
        seen.append(get())
        second.__exit__(None, None, None)
        seen.append(get())
        infer.nuts(model, Y, draws=1, warmup=0, chains=2, progress=False)
        assert [*seen, get()] == [1, 2, 2, 1, 2]
    finally:
        set_to(before)

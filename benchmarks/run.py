"""Run the benchmarks: `python benchmarks/run.py` from the root of the repository, or `make bench`.

This script only prepares: it makes the peers' environment if a peer is asked for, limits every library to one thread,
and starts each suite (`measure.py` for eager gradients, `compiled/` for compiled code) with the same arguments. Thread
limits are read when a library is imported, so they have to be in the environment of a process that has imported nothing
yet; that is why there are two scripts.
"""

import os
import subprocess
import sys
from pathlib import Path

import arguments
import peers
import tools

HERE = Path(__file__).parent
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "JAX_PLATFORMS": "cpu",
}
START = {"eager": ["measure"], "compiled": ["compiled.measure"]}


def main() -> int:
    """Prepare the interpreter that has the tools, then measure in it; return the worst exit status."""
    options = arguments.parse()
    suites = list(START) if options.suite == "all" else [options.suite]
    worst = 0
    for suite in suites:
        wanted = tools.of_suite(suite, options.tools)
        python = sys.executable if all(name in tools.OURS for name in wanted) else peers.interpreter()
        environment = os.environ | ONE_THREAD | {"PYTHONPATH": path(), "PYTHONSAFEPATH": "1"}
        done = subprocess.run([python, "-m", *START[suite], *sys.argv[1:]], env=environment)
        worst = max(worst, abs(done.returncode))
    return worst


def path() -> str:
    """Return the module search path, with this folder at its front."""
    return os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])


if __name__ == "__main__":
    sys.exit(main())

"""Run the benchmarks: `python benchmarks/run.py` from the root of the repository, or `make bench`.

This script only prepares: it makes the peers' environment if a peer is asked for, limits every library to one thread,
and starts `measure.py` with the same arguments. Thread limits are read when a library is imported, so they have to be
in the environment of a process that has imported nothing yet; that is why there are two scripts.
"""

import os
import subprocess
import sys
from pathlib import Path

import arguments
import peers
import tools

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "JAX_PLATFORMS": "cpu",
}


def main() -> int:
    """Prepare the interpreter that has the tools, then measure in it; return its exit status."""
    options = arguments.parse()
    python = sys.executable
    if any(name in tools.PEERS for name in options.tools):
        python = peers.interpreter()
    script = Path(__file__).with_name("measure.py")
    return subprocess.run([python, script, *sys.argv[1:]], env=os.environ | ONE_THREAD).returncode


if __name__ == "__main__":
    sys.exit(main())

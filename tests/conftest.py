"""What all tests share: thread limits, the profiles of hypothesis, a seeded random generator, golden files."""

import gc
import os
import signal
from pathlib import Path
from typing import Any

# Test processes run side by side; BLAS threads on top of them would fight over the same cores. The libraries read
# these variables when they are loaded, so this comes before NumPy.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# Tests change thresholds, and must not find what others compiled; nor may they touch the user's own folder.
os.environ["WENGERT_CACHE"] = "0"

# What compiled code reads before it was written to is not a number, rather than what happened to be there.
os.environ.setdefault("WENGERT_POISON", "1")

# Every program that is captured, and what each pass makes of it, is valid.
os.environ.setdefault("WENGERT_CHECK", "1")

# Jobs in the background of a shell ignore Ctrl-C, and so do their children; tests send it to themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sampling import digest_of_source, sample
from unverified import reason_for

import wengert

# Tests put other things in the place of functions and constants of modules. A module that is first imported meanwhile
# would take these for good, so all are imported now.
for _name in wengert._HOME:
    getattr(wengert, _name)

_shared = settings(
    deadline=None,  # times vary with what else the machine does
    derandomize=bool(os.environ.get("CI")),
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("quick", _shared, max_examples=10)
settings.register_profile("usual", _shared, max_examples=25)
settings.register_profile("full", _shared, max_examples=50)
settings.load_profile(os.environ.get("WENGERT_TEST_PROFILE", "usual"))


VERIFIES = os.environ.get("WENGERT_VERIFY", "0") not in ("", "0")
"""Whether compiled functions are compared with plain Python."""


@pytest.fixture
def rng() -> np.random.Generator:
    """A random generator that starts from the same seed in every test."""
    return np.random.default_rng(20180101)


_STATES: dict[int, Any] = {}


@pytest.fixture(autouse=True)
def _same_numbers_whatever_ran_before(request: pytest.FixtureRequest) -> None:
    """A generator of a module's own starts each test where the first one found it: `--sample` leaves tests out."""
    module = getattr(request.node, "module", None)  # (doctests have none)
    for value in vars(module).values() if module is not None else ():
        if isinstance(value, np.random.Generator):
            value.bit_generator.state = _STATES.setdefault(id(value), value.bit_generator.state)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write golden files anew instead of comparing")
    parser.addoption("--sample", type=int, metavar="N", help="N cases or so of each parametrised test, others each run")
    parser.addoption("--draw", type=int, metavar="K", help="which cases --sample takes: those of the run that said so")


def pytest_configure(config: pytest.Config) -> None:
    """Settle which cases are drawn, once for all processes that run tests."""
    if config.option.sample and config.option.draw is None:
        told = getattr(config, "workerinput", {}).get("draw")
        if told is None:
            told = digest_of_source() if os.environ.get("CI") else next_draw(config)
        config.option.draw = told


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process that runs tests; it is given the command line only, in which the draw does not stand."""
    node.workerinput["draw"] = node.config.option.draw


def pytest_sessionstart(session: pytest.Session) -> None:
    option, terminal = session.config.option, session.config.pluginmanager.get_plugin("terminalreporter")
    if option.sample and terminal:  # (as a header, `-q` would leave it out)
        terminal.write_line(f"cases: --sample {option.sample} --draw {option.draw}")


def next_draw(config: pytest.Config) -> int:
    """One more than at the last run here, so that runs go through all cases in turn."""
    cache = getattr(config, "cache", None)
    if cache is None:  # pytest -p no:cacheprovider
        return 0
    draw = cache.get("wengert/draw", -1) + 1
    cache.set("wengert/draw", draw)
    return draw


@pytest.fixture
def golden(request: pytest.FixtureRequest):
    """A function that compares a text with a file in the folder `golden` beside the test."""

    def compare(name: str, text: str) -> None:
        path = Path(request.path).parent / "golden" / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"there is no {path}: run pytest --update-golden, and look at what it writes"
        assert text == path.read_text(encoding="utf-8")

    return compare


LONG_FILES = {
    *("test_special.py", "test_fourier.py", "test_distributions.py", "test_linalg.py", "test_scipy_linalg.py"),
    *("test_interpolation.py", "test_quadrature.py", "test_filters.py", "test_sparse_products.py", "test_table.py"),
    *("test_writing_cost.py", "test_statistics.py", "test_joining.py", "test_programs.py"),
    *("test_elementwise.py", "test_indexing.py", "test_tape.py", "test_foreign_arrays.py", "test_coverage_page.py"),
}
"""Files that go through many functions, or measure growth: `make test-quick` leaves them out as a whole."""


OPTIMISED_FOLDERS = {"backend", "gallery", "gpu", "infer"}
"""Folders whose tests ask what LLVM makes of programs, or whose programs run long. Elsewhere it does next to nothing:
the tests ask what programs mean, and to optimise these is half of the time they would take."""
OPTIMISED_FILES = {
    *("test_calls.py", "test_export.py", "test_programs.py", "test_table.py"),
}
"""Files elsewhere whose programs are optimised all the same: all ops, all programs of the suite. (Of random programs,
one in four: `choose_ways` in fuzz/hunt.py.)"""
_CHOSEN = os.environ.get("WENGERT_OPT")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Choose how much LLVM does, unless the environment says so: `WENGERT_OPT=3 make test` is for all of them."""
    if item.get_closest_marker("optimised") is not None:
        os.environ["WENGERT_OPT"] = "3"
    elif _CHOSEN is not None:
        os.environ["WENGERT_OPT"] = _CHOSEN
    else:
        folder = item.nodeid.removeprefix("tests/").partition("/")[0]
        is_optimised = folder in OPTIMISED_FOLDERS or item.path.name in OPTIMISED_FILES
        is_light = item.get_closest_marker("light") is not None
        os.environ["WENGERT_OPT"] = "3" if is_optimised and not is_light else "0"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.name in LONG_FILES:
            item.add_marker(pytest.mark.slow)
        if VERIFIES and (reason := reason_for(item.nodeid)) is not None:
            item.add_marker(pytest.mark.skip(reason=f"not with WENGERT_VERIFY: {reason}"))
    if config.option.sample:
        chosen = set(sample([item.nodeid for item in items], config.option.sample, config.option.draw))
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
        items[:] = [item for item in items if item.nodeid in chosen]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Have the garbage collector leave out what was collected here, which stays until the end anyway: tens of thousands
    of tests are a million objects, and going through them takes an eighth of the time of all tests."""
    gc.collect()
    gc.freeze()

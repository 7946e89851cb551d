"""Tests that mean something else when every compiled function is compared with plain Python (`make test-verify`).

Each has its reason: it counts calls or looks at what is compiled, has compiled functions do something wrong on purpose,
or compares results that agree as closely as they should, and not more closely.
"""

ROUNDING = "what is compared is rounding alone"
OUTSIDE = "it counts warnings, compilations or lines of native code"
WRONG = "compiled code is made wrong on purpose, or not made at all"
TOLERANCES = "steps are chosen by tolerances, eagerly others than compiled"
SYMBOLS = "SymPy's symbols are no numbers that plain Python could differentiate"
WIDER = "compiled enclosures may be wider"

REASONS = {
    "tests/api/test_taylor.py::test_powers": "coefficients at a singular point are inf in one way and nan in the other",
    "tests/backend/test_filters.py::test_infinite_coefficients": "SciPy multiplies infinite coefficients with zeros",
    "tests/backend/test_fourier_and_norm.py::test_norms_whose_squares": "NumPy's norm underflows",
    "tests/backend/test_object_code.py": OUTSIDE,
    "tests/backend/test_poison.py::test_a_mistake_is_seen": WRONG,
    "tests/backend/test_scalars.py::test_loops_are_vectorised": OUTSIDE,
    "tests/backend/test_small.py::test_no_numbers": "where a matrix holds nan, all of its inverse is nan",
    "tests/backend/test_stored.py": OUTSIDE,
    "tests/box/test_distances.py::test_compiled": ROUNDING,
    "tests/cli/test_commands.py::test_compare_measures_errors": SYMBOLS,
    "tests/explain/test_closed_form.py::test_values_and_derivatives_agree": SYMBOLS,
    "tests/gallery/test_neural_ode.py": TOLERANCES,
    "tests/jit/test_branches_of_different_kinds.py::test_what_a_program_tells_it_tells_once": OUTSIDE,
    "tests/jit/test_classes_of_arguments.py::test_digits_of_numbers": "a number of a loop counts as NumPy's",
    "tests/jit/test_exceptions_implicit.py::test_batches": "eagerly, math gives nan in a batch where it raises",
    "tests/jit/test_ordering.py::test_objects_in_which": "sorting where < is no order raises",
    "tests/jit/test_outside_world.py::test_warnings_and_logging": OUTSIDE,
    "tests/modes/test_interval.py::test_exponents": WIDER,
    "tests/modes/test_intervals_as_values.py": WIDER,
    "tests/nn/test_layers.py::test_compiled_batched_and_differentiated": ROUNDING,
    "tests/ops/test_singular_determinant.py": ROUNDING,
    "tests/solvers/test_odeint.py": TOLERANCES,
    "tests/test_foreign_arrays.py::test_arrays_that_speak_dlpack": "plain NumPy has no functions of them",
}
"""The beginning of the name of a test, or of several -> why they are left out."""


def reason_for(name: str) -> str | None:
    return next((reason for start, reason in REASONS.items() if name.startswith(start)), None)

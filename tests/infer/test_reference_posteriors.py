"""Posteriors of posteriordb (BSD-3): log-densities at given points, and moments within four standard errors."""

import numpy as np
import pytest
from reference_posteriors import DATA, POSTERIORS, compare, parameters, read, sites_of

import wengert as wg
from wengert import infer

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="needs the reference posteriors")
LARGE = ("radon", "diamonds", "hudson")  # tested by their moments, and in one point


@pytest.mark.parametrize("name", POSTERIORS)
def test_log_densities_and_gradients_at_given_points(name):
    """Up to a constant: with the Jacobian of the reference's parameters in our unconstrained ones taken off."""
    file = read(name)
    model, arguments = POSTERIORS[name]
    p = infer.posterior(model, *arguments(file["data"]))
    labels = file["log_density_parameters"]
    points = file["check_points"][: 1 if name.startswith(LARGE) else 2]
    in_reference = lambda u: parameters(p.constrain(u), labels)
    jacobian = wg.jacobian(in_reference)
    correction = lambda u: np.linalg.slogdet(jacobian(u))[1]
    accuracy = 1e-3 if name.startswith("hudson") else 2e-5  # that of the differential equation
    compiled = wg.jit(wg.value_and_grad(p.log_density))
    values = []
    for point in points:
        u = p.unconstrain(sites_of(name, point["at"], labels))
        np.testing.assert_allclose(in_reference(u), point["at"], rtol=1e-9)
        value, slope = compiled(u)
        np.testing.assert_allclose(value, p.log_density(u), rtol=1e-10)
        shift, of_shift = wg.value_and_grad(correction)(u)
        values.append((value - shift, point["log_density"]))
        expected = np.asarray(point["gradient"]) @ jacobian(u)
        scale = np.max(np.abs(np.asarray(point["gradient"])[:, None] * jacobian(u)), axis=0)
        np.testing.assert_allclose((slope - of_shift - expected) / (1 + scale), 0, atol=accuracy)
    ours, theirs = np.array(values).T
    np.testing.assert_allclose(ours - ours[0], theirs - theirs[0], atol=2e-6 * (1 + np.abs(theirs[0])))


@pytest.mark.parametrize(
    "name",
    ["eight_schools-eight_schools_noncentered", "garch-garch11", "sblri-blr"],
)
def test_moments(name):
    found = compare(name)
    assert found["compiled"]
    assert found["mean"] < 4
    assert found["sd"] < 4
    assert found["r_hat"] < 1.01
    assert found["divergences"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arma-arma11", "hmm_example-hmm_example"])
def test_moments_of_time_series(name):
    """Some points to start from are so steep that a chain would never leave them: others are taken."""
    found = compare(name)
    assert found["compiled"]
    assert max(found["mean"], found["sd"]) < 4
    assert found["r_hat"] < 1.01
    assert found["divergences"] == 0

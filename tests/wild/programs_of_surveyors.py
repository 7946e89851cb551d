"""Functions of public packages: places on Earth and in the sky, rotations, structures, filters, scores, cash flows."""

from __future__ import annotations

import datetime

import numpy as np
from wild.programs import program


@program("pyrr", 0.3, 0.8)
def quaternion_between(pyrr):
    turned = pyrr.quaternion.create_from_axis_rotation
    first, axis = turned(np.array([0.0, 0.0, 1.0]), 0.2), np.array([0.0, 1.0, 0.0])
    return lambda t, a: np.sum(pyrr.quaternion.slerp(first, turned(axis, a), t) * np.array([1.0, 2.0, 3.0, 4.0]))


@program("pyrr", 45.0, 1.3)
def perspective(pyrr):
    weights = np.arange(16.0).reshape(4, 4)
    return lambda a, b: np.sum(pyrr.matrix44.create_perspective_projection(a, b, 0.1, 10.0) * weights)


@program("skyfield.earthlib", 12.0, 15.0)
def refraction_of_air(earthlib):
    return lambda altitude, temperature: earthlib.refraction(altitude, temperature, 1010.0)


@program("astral.sun", 0.2)
def equation_of_time(sun):
    return lambda century: sun.eq_of_time(century) + sun.sun_declination(century)


@program("colossus.cosmology.cosmology", 0.5, 2.0)
def expansion(cosmology):
    universe = cosmology.setCosmology("planck18")
    return lambda z, a: universe.Hz(z) / 100 + a * universe.Om(z)


@program("nvector", 0.8, 0.3)
def position_on_earth(nvector):
    weights = np.array([[1.0], [2.0], [3.0]])
    return lambda a, b: np.sum(nvector.n_EB_E2p_EB_E(nvector.lat_lon2n_E(a, b), -100.0) * weights) / 1e6


@program("s2sphere", 48.1, 11.5)
def distance_on_a_sphere(s2sphere):
    place = s2sphere.LatLng.from_degrees
    return lambda a, b: place(a, b).get_distance(place(52.5, 13.4)).radians


@program("xirr.math", 110.0, 25.0)
def rate_of_return(xirr):
    first, second, third = datetime.date(2020, 1, 1), datetime.date(2021, 1, 1), datetime.date(2022, 6, 1)
    return lambda a, b: 100 * xirr.xirr({first: -100.0, second: b, third: a})


@program("scoringrules", 0.3, 1.2)
def ranked_probability_scores(scoringrules):
    return lambda m, s: scoringrules.crps_normal(0.7, m, s) + scoringrules.crps_logistic(0.7, m, s)


@program("properscoring", 0.3, 1.2)
def score_of_a_forecast(properscoring):
    return lambda m, s: properscoring.crps_gaussian(0.7, m, s)


@program("calfem.core", 210.0, 0.3)
def plane_element(core):
    return lambda E, nu: np.sum(np.abs(core.plante([0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1, 0.1], core.hooke(1, E, nu))))


@program("proptools.nozzle", 2.0, 1.3)
def thrust_coefficient(nozzle):
    return lambda p, g: nozzle.thrust_coef(p * 1e6, 1e5, g) + nozzle.er_from_p(p * 1e6, 1e5, g)


@program("simdkalman", 0.8, 0.2)
def smoothed_states(simdkalman):
    data = np.sin(np.arange(12.0))

    def total(q, r):
        smoother = simdkalman.KalmanFilter(
            state_transition=np.array([[1.0, 1.0], [0.0, 1.0]]), process_noise=np.diag([0.1, 0.01]) * q,
            observation_model=np.array([[1.0, 0.0]]), observation_noise=r,
        )  # fmt: skip
        found = smoother.smooth(data, initial_value=[0.0, 0.0], initial_covariance=np.eye(2))
        return np.sum(found.observations.mean)

    return total


@program("waveresponse", 0.5, 10.0)
def spectrum_of_waves(waveresponse):
    frequencies = np.linspace(0.2, 2, 10)
    return lambda h, t: np.sum(waveresponse.JONSWAP(frequencies, freq_hz=False)(h, t, gamma=2.0)[1])

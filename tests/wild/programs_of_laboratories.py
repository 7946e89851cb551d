"""Functions of public packages for signals, measurements and comfort, each as the first thing that its users call."""

from __future__ import annotations

import numpy as np
from wild.programs import program

WAVE = np.cos(np.arange(40) * 0.4)
TIMES = np.linspace(0, 1, 12)


@program("spectrum", 0.7, 1.1)
def autoregression(spectrum):
    return lambda a, b: spectrum.aryule(a * WAVE + b * np.sin(np.arange(40) * 0.9), 3)[1]


@program("spectrum", 0.7, 1.1)
def correlation(spectrum):
    return lambda a, b: np.sum(spectrum.CORRELATION(a * WAVE + b, maxlags=5, norm="unbiased") ** 2)


@program("pybaselines", 0.5, 2.0)
def baseline_by_least_squares(pybaselines):
    from pybaselines.whittaker import asls

    t = np.linspace(0, 1, 40)
    return lambda a, b: np.sum(asls(np.exp(-a * t) + b * t**2, lam=10, max_iter=5)[0] ** 2)


@program("heartpy", 0.4, 1.1)
def filtered_heartbeat(heartpy):
    def f(a, b):
        y = a * np.sin(np.arange(200) * 0.3) + b
        return np.sum(heartpy.filter_signal(y, cutoff=5, sample_rate=100.0, order=3, filtertype="lowpass") ** 2)

    return f


@program("heartpy", 0.4, 1.1)
def scaled_heartbeat(heartpy):
    return lambda a, b: np.sum(heartpy.scale_data(a * WAVE**2 + b * WAVE) ** 2)


@program("pyteomics", 5.0, 0.7)
def charge_of_a_peptide(pyteomics):
    from pyteomics import electrochem

    return lambda acidity, s: electrochem.charge("PEPTIDEK", acidity) * s


@program("fatpack", 2.0, 0.3)
def endurance(fatpack):
    curve = fatpack.LinearEnduranceCurve(90.0)
    return lambda s, k: np.sum(curve.get_endurance(np.array([s * 100, 40.0 + k]))) * 1e-6


@program("similaritymeasures", 0.9, 0.3)
def warped_distance(measures):
    def f(a, b):
        first = np.column_stack([TIMES, a * np.sin(3 * TIMES) + 2])
        return measures.dtw(first, np.column_stack([TIMES, b * TIMES**2]))[0]

    return f


@program("pyquaternion", 0.3, 0.8)
def between_two_rotations(pyquaternion):
    q = pyquaternion.Quaternion
    first, second = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]
    return lambda a, b: q.slerp(q(axis=first, radians=0.3), q(axis=second, radians=1.0), amount=a).elements[1] * b


@program("hsluv", 0.3, 0.6, 0.2)
def saturation(hsluv):
    return lambda r, g, b: hsluv.rgb_to_hsluv((r, g, b))[1]


@program("toqito", 0.6)
def entropy_of_a_state(toqito):
    from toqito.state_props import von_neumann_entropy

    return lambda a: von_neumann_entropy(np.array([[a, 0.1], [0.1, 1 - a]]))


@program("pythermalcomfort", 25.0, 27.0, 1.5, 50.0)
def felt_temperature(comfort):
    from pythermalcomfort.models import utci

    return lambda a, b, c, d: utci(a, b, c, d, limit_inputs=False, round_output=False).utci


@program("pythermalcomfort", 25.0, 50.0)
def discomfort(comfort):
    from pythermalcomfort.models import humidex

    return lambda a, b: humidex(a, b, round_output=False).humidex


@program("pingouin", 0.3, 1.1)
def effect_size(pingouin):
    x, z = np.sin(np.arange(9.0)), np.cos(np.arange(9.0) ** 1.1)
    return lambda a, b: pingouin.compute_effsize(x + a, b * z)


@program("bruges", 2500.0, 10.0)
def reflected_waves(bruges):
    from bruges import reflection

    return lambda v, t: np.real(np.sum(reflection.zoeppritz(v, 1200.0, 2200.0, 3000.0, 1500.0, 2300.0, t)))

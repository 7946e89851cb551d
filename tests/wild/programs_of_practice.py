"""More functions of public packages: comfort and climate, waves and light, ratings and tests, gases and rocks."""

from __future__ import annotations

import numpy as np
from wild.programs import program


@program("pysabr", 0.05, 0.04, 1.0, 0.2)
def volatility_by_sabr(_):
    from pysabr.models.hagan_2002_lognormal_sabr import lognormal_vol

    return lambda k, f, t, alpha: lognormal_vol(k, f, t, alpha, 0.5, -0.3, 0.4)


@program("keplertools", 0.3, 0.7)
def eccentric_anomaly(_):
    from keplertools import fun

    return lambda M, e: fun.eccanom(np.array([M]), e, noc=True)[0]


@program("tbcontrol", 2.0, 1.5, 0.6)
def step_response(_):
    from tbcontrol.responses import sopdt

    t = np.linspace(0, 5, 20)
    return lambda K, tau, zeta: np.sum(sopdt(t, K, tau, zeta, 0.0))


@program("aotools", 3.0, 0.15, 20.0)
def turbulence(aotools):
    return lambda r, r0, L0: aotools.structure_function_vk(r, r0, L0)


@program("ladybug_comfort", 24.0, 26.0, 0.15, 50.0, 1.2, 0.7)
def standard_effective_temperature(_):
    from ladybug_comfort import pmv

    return lambda ta, tr, v, rh, met, clo: pmv.pierce_set(ta, tr, v, rh, met, clo)


@program("ladybug_comfort", 24.0, 26.0, 0.15, 50.0)
def mean_vote(_):
    from ladybug_comfort import pmv

    return lambda ta, tr, v, rh: pmv.fanger_pmv(ta, tr, v, rh, 1.2, 0.7)[0]


@program("pygasflow", 2.5, 40.0)
def oblique_shock(_):
    from pygasflow import shockwave

    return lambda M, beta: shockwave.theta_from_mach_beta(M, beta)


@program("pygasflow", 0.6, 1.4)
def flow_with_friction(_):
    from pygasflow import fanno

    return lambda M, gamma: fanno.critical_friction_parameter(M, gamma)


@program("lamberthub", 1.5e4, 1e4, 76.0)
def transfer_orbit(lamberthub):
    def f(x, y, minutes):
        start, end = np.array([x, 0.0, 0.0]), np.array([-1e4, y, 3e3])
        return np.sum(lamberthub.izzo2015(398600.0, start, end, minutes * 60)[0] ** 2)

    return f


@program("pyrtlib", 30.0, 290.0)
def water_in_microwaves(_):
    from pyrtlib import utils

    return lambda f, t: np.abs(utils.dilec12(f, t)) + utils.eswat_goffgratch(t)


@program("arlpy", 25e3, 15.0, 35.0, 100.0)
def absorption_of_sound(_):
    from arlpy import uwa

    return lambda f, T, S, D: uwa.absorption(f, 1000, T, S, D)


@program("catsim", 0.5, 1.2, 0.3, 0.2)
def answer_to_an_item(_):
    from catsim import irt

    return lambda theta, a, b, c: irt.icc(theta, a, b, c) + irt.inf(theta, a, b, c)


@program("toqito", 0.3, 0.8)
def distance_of_states(_):
    from toqito.state_metrics import trace_distance

    def f(a, b):
        return trace_distance(np.array([[a, 0.1], [0.1, 1 - a]]), np.array([[b, -0.2], [-0.2, 1 - b]]))

    return f


@program("rowan", 0.3, 0.2, 0.7)
def turned_by_angles(rowan):
    return lambda a, b, c: np.sum(rowan.rotate(rowan.from_euler(a, b, c), [1.0, 2.0, 3.0]) * np.array([1.0, 0.5, 0.2]))


@program("dual_quaternions", 0.4, 0.3)
def screw_motion(_):
    from dual_quaternions import DualQuaternion

    return lambda angle, d: np.sum(DualQuaternion.from_screw([0, 0, 1], [0.1, 0.2, 0.0], angle, d).homogeneous_matrix())


@program("finoptions", 10.0, 8.0, 1.0, 0.02, 0.01, 0.2)
def generalised_call(finoptions):
    return lambda S, K, t, r, b, sigma: finoptions.GBSOption(S, K, t, r, b, sigma).call()


@program("similaritymeasures", 0.7, 1.2)
def distance_of_curves(measures):
    x = np.linspace(0, 1, 12)
    return lambda a, b: measures.frechet_dist(np.column_stack([x, a * x]), np.column_stack([x, b * np.sin(x)]))


@program("pmutt", 500.0, 3000.0)
def vibrations(_):
    from pmutt.statmech.vib import HarmonicVib

    return lambda T, wavenumber: HarmonicVib(vib_wavenumbers=[wavenumber, 1500.0]).get_GoRT(T=T)


@program("trueskill", 25.0, 8.0, 28.0)
def rating_after_a_match(trueskill):
    return lambda m, s, other: trueskill.rate_1vs1(trueskill.Rating(m, s), trueskill.Rating(other, 7.0))[0].mu


@program("glicko2", 1500.0, 200.0)
def rating_after_matches(glicko2):
    def f(rating, deviation):
        player = glicko2.Player(rating=rating, rd=deviation)
        player.update_player([1400, 1550, 1700], [30, 100, 300], [1, 0, 0])
        return player.rating

    return f


@program("impedance", 100.0, 1e-4, 0.8)
def impedance_of_a_cell(_):
    from impedance.models.circuits.elements import CPE, R
    from impedance.models.circuits.elements import p as parallel

    f = [1.0, 10.0, 100.0]
    return lambda r, q, a: np.sum(np.abs(parallel([R([r], f), CPE([q, a], f)])))


@program("raschii", 1.0, 10.0, 60.0)
def stokes_wave(raschii):
    return lambda height, depth, length: raschii.StokesWave(height, depth, length, N=5).surface_elevation([3.0])[0]


@program("lmoments3", 1.0, 0.4)
def l_moments(lmoments3):
    x = np.sort(np.random.default_rng(0).normal(size=20))
    return lambda a, b: lmoments3.lmom_ratios(a * x + b * x**3, nmom=4)[3]


@program("crystals", 4.0, 5.0, 95.0)
def cell_of_a_crystal(crystals):
    return lambda a, b, beta: crystals.Lattice.from_parameters(a, b, 6.0, 90.0, beta, 100.0).volume


@program("navpy", 0.3, 0.2, 0.1)
def attitude(navpy):
    def f(a, b, c):
        q0, q = navpy.angle2quat(a, b, c)
        return sum(navpy.quat2angle(q0, q)) + navpy.quat2dcm(q0, q)[0, 1]

    return f


@program("coloraide", 0.2, 0.5)
def difference_of_colours(coloraide):
    def f(r, g):
        grey = coloraide.Color("srgb", [0.3, 0.3, 0.3])
        return coloraide.Color("srgb", [r, g, 0.4]).delta_e(grey, method="2000")

    return f


@program("rockphypy", 0.25, 20.0)
def soft_sand(_):
    from rockphypy import GM

    return lambda porosity, stress: GM.softsand(37.0, 44.0, porosity, 0.4, 8.6, stress, 0.5)[0]


@program("pypolar", 0.3)
def polariser(_):
    from pypolar import mueller

    return lambda angle: np.sum(mueller.op_linear_polarizer(angle) @ np.array([1.0, 0.2, 0.3, 0.1]))

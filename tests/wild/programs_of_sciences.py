"""Functions of more public packages, each as the first thing that its users call."""

from __future__ import annotations

import numpy as np
from wild.programs import program

SIGNAL = np.sin(1.7 * np.arange(60.0) ** 1.1)


@program("tmm", 100.0, 2.2)
def thin_film(tmm):
    return lambda d, n: tmm.coh_tmm("s", [1.0, n, 3.3 + 0.3j, 1.0], [np.inf, d, 300.0, np.inf], 0.3, 500.0)["R"]


@program("ase", 0.3, 1.2)
def geometry_of_atoms(ase):
    def f(a, b):
        atoms = ase.Atoms("Ar3", positions=[[0, 0, 0], [1.0 + a, 0, 0], [0, b, 0.2]])
        return atoms.get_distance(0, 1) + np.sum(atoms.get_center_of_mass()) + atoms.get_angle(1, 0, 2) / 50

    return f


@program("ase", 0.3, 1.2)
def volume_of_a_cell(ase):
    from ase.cell import Cell

    return lambda a, b: Cell.fromcellpar([1.0 + a, 2.0, b, 80.0, 90.0, 85.0]).volume


@program("ase", 0.3, 1.2)
def helmholtz_energy(ase):
    from ase.thermochemistry import HarmonicThermo

    return lambda a, b: HarmonicThermo(np.array([a, b])).get_helmholtz_energy(300.0 * a, verbose=False)


@program("vector", 0.1, 0.2, 0.5)
def boosted(vector):
    def f(a, b, c):
        v, w = vector.obj(px=a, py=b, pz=c, E=2.0), vector.obj(px=1.0, py=b, pz=a, E=3.0)
        return (v + w).mass + v.deltaR(w) + v.boost(w.to_beta3()).pt

    return f


@program("ot", 0.7, 0.2)
def sinkhorn(ot):
    x, y = SIGNAL[:8].reshape(4, 2), SIGNAL[10:20].reshape(5, 2)

    def f(a, b):
        cost = ot.dist(x * a, y + b)
        return np.sum(ot.sinkhorn(np.ones(4) / 4, np.ones(5) / 5, cost, 1.0, numItermax=50, warn=False) * cost)

    return f


@program("ot", 0.7, 0.2)
def distance_of_gaussians(ot):
    return lambda a, b: ot.gaussian.bures_wasserstein_distance(
        np.array([a, b]), np.zeros(2), np.array([[1.0, b], [b, a]]), np.eye(2)
    )


@program("tensorly", 0.1, 0.2)
def low_rank_tensor(tl):
    A, B, C = SIGNAL[:6].reshape(3, 2), SIGNAL[6:14].reshape(4, 2), SIGNAL[14:18].reshape(2, 2)
    return lambda a, b: np.sum(tl.cp_to_tensor((np.array([a, b]), [A * b, B + a, C])) ** 2)


@program("antropy", 0.7, 0.2)
def spectral_entropy(antropy):
    def f(a, b):
        x = a * SIGNAL + b * np.sin(np.arange(60.0))
        return antropy.spectral_entropy(x, sf=10.0, method="fft") + antropy.katz_fd(x)

    return f


@program("pycwt", 0.7, 0.2)
def wavelet_power(pycwt):
    def f(a, b):
        x = a * SIGNAL + b * np.sin(np.arange(60.0))
        return np.sum(np.abs(pycwt.cwt(x, 1.0, 1 / 4, 2.0, 8, "morlet")[0]) ** 2)

    return f


@program("eqsig", 0.3, 0.2)
def response_spectrum(eqsig):
    return lambda a, xi: np.sum(eqsig.sdof.pseudo_response_spectra(a * SIGNAL, 0.02, np.array([0.1, 0.3]), xi)[0])


@program("pyXSteam.XSteam", 3.0, 220.0)
def steam(module):
    tables = module.XSteam(module.XSteam.UNIT_SYSTEM_MKS)
    return lambda p, t: tables.h_pt(p, t) + tables.rho_pt(p, t) + tables.tsat_p(p)


@program("chempy.properties.water_density_tanaka_2001", 298.0, 0.5)
def water(module):
    from chempy.kinetics.eyring import eyring_equation

    return lambda T, a: a * module.water_density(T) + eyring_equation(40e3, 20.0 * a, T)


@program("burnman", 25.0, 1800.0)
def mineral(burnman):
    periclase = burnman.minerals.SLB_2011.periclase()

    def f(pressure, temperature):
        periclase.set_state(pressure * 1e9, temperature)
        return periclase.density

    return f


@program("hapsira.core.angles", 0.3, 1.2)
def true_anomaly(angles):
    return lambda e, M: angles.E_to_nu(angles.M_to_E(M, e), e)


@program("hapsira.core.propagation", 7.0, 0.3)
def propagated(propagation):
    def f(x, y):
        found = propagation.markley(398600.0, np.array([x * 1e3, 0.0, 10.0]), np.array([0.0, 7.5 + y / 10, 0.1]), 600.0)
        return np.sum(found[0]) / 1e3

    return f


@program("boule", 50.0, 60.0)
def radius_of_the_earth(boule):
    return lambda lat, other: (
        boule.WGS84.geocentric_radius(lat) + boule.WGS84.prime_vertical_radius(np.sin(np.radians(other)))
    )


@program("lifetimes", 0.3, 1.2)
def customers(lifetimes):
    counts, recency, age = np.array([2.0, 1, 0, 5]), np.array([30.4, 1.7, 0.0, 29.4]), np.full(4, 38.9)
    return lambda r, a: lifetimes.BetaGeoFitter._negative_log_likelihood(
        np.log(np.array([r, a, 0.8, 2.5])), counts, recency, age, np.ones(4), 0.0
    )


@program("quantecon", 0.9, 0.2)
def lyapunov(qe):
    return lambda a, b: np.sum(qe.solve_discrete_lyapunov(np.array([[a * 0.5, b], [0.1, 0.3]]), np.eye(2)))


@program("gymnasium", 0.2, 0.3)
def cart_pole(gym):
    def f(x, angle):
        env = gym.make("CartPole-v1").unwrapped
        env.reset(seed=0)
        env.state = np.array([x, 0.1, angle * 0.1, 0.2])
        for k in range(5):
            env.step(k % 2)
        return env.state[0] + env.state[2]

    return f


@program("pyswarms", 0.3, 0.2)
def benchmark_functions(pyswarms):
    from pyswarms.utils.functions import single_obj

    return lambda a, b: (
        np.sum(single_obj.rastrigin(np.array([[a, b], [b, 0.1]]))) + np.sum(single_obj.ackley(np.array([[a, b]])))
    )


@program("actuarialmath", 0.05, 0.04)
def makeham(actuarialmath):
    return lambda A, c: actuarialmath.Makeham(A=A * 0.01, B=2.7e-6, c=1.1 + c).p_x(60)


@program("py_vollib", 100.0, 0.5, 0.02, 0.3)
def black_scholes_by_symmetry(py_vollib):
    from py_vollib.black_scholes import black_scholes

    return lambda S, t, r, v: black_scholes("c", S, 105.0, t, r, v)


@program("pint", 1.5, 2.0)
def quantity(pint):
    units = pint.UnitRegistry()
    return lambda a, b: ((a * units.meter) / (b * units.second)).to("km/hour").magnitude


@program("spotpy", 0.9, 0.3)
def efficiencies(spotpy):
    seen = [1.0, 2, 4, 3, 5]
    o = spotpy.objectivefunctions
    return lambda a, b: o.kge(seen, [a * x + b * x**2 for x in seen]) + o.rmse(seen, list(a * np.array(seen) + b))

"""Functions of public packages: brains and grids of power, orbits and quakes, tracers and polls, fits and decisions."""

from __future__ import annotations

import numpy as np
from wild.programs import program

TIMES = np.arange(0.0, 16.0, 2.0)
WEIGHTS = np.array([[0, 0.5, 0.2, 0.7], [0.5, 0, 0.9, 0.35], [0.2, 0.9, 0, 0.45], [0.7, 0.35, 0.45, 0]])
WAVE = np.sin(0.37 * np.arange(20)) + 0.4 * np.cos(1.3 * np.arange(20) + 0.2)


def weighted(result):
    """One number of many."""
    x = np.ravel(result)
    return np.sum(x * (1 + 0.3 * np.cos(np.arange(len(x)))))


# ------------------------------------------------------------------------------------------ networks, grids of power


@program("bct", 0.8)
def first_passage(bct):
    return lambda w: weighted(bct.mean_first_passage_time(np.where(WEIGHTS == 0.35, w, WEIGHTS)))


@program("pydmd", 0.6)
def modes_of_a_flow(pydmd):
    def f(w):
        snapshots = np.cos(np.outer(np.arange(8.0) ** 1.3, 0.2 * np.arange(6) + w))
        modes = pydmd.DMD(svd_rank=2)
        modes.fit(snapshots)
        return np.sum(np.abs(modes.eigs))

    return f


@program("pypower.api", 90.0, 30.0)
def power_flow(api):
    case = api.ext2int(api.case9())
    admittance = api.makeYbus(case["baseMVA"], case["bus"], case["branch"])[0]
    kinds, options = api.bustypes(case["bus"], case["gen"]), api.ppoption(VERBOSE=0)

    def f(active, reactive):
        bus = case["bus"].copy()
        bus[4, 2], bus[4, 3] = active, reactive
        power = api.makeSbus(case["baseMVA"], bus, case["gen"])
        return weighted(np.abs(api.newtonpf(admittance, power, np.ones(9, complex), *kinds, options)[0]))

    return f


# ------------------------------------------------------------------------------------------- orbits, quakes, tracers


@program("pytwobodyorbit", 1.0, 0.2)
def later_on_an_orbit(bodies):
    def f(x, y):
        orbit = bodies.TwoBodyOrbit("a", mu=1.0)
        orbit.setOrbCart(0.0, np.array([x, y, 0.1]), np.array([0.1, 0.9, 0.2]))
        place, speed = orbit.posvelatt(0.7)
        return weighted(place) + weighted(speed)

    return f


@program("pygmm", 6.5, 20.0, 500.0)
def shaking(pygmm):
    def f(magnitude, distance, speed):
        given = {"mechanism": "SS", "dip": 90, "depth_tor": 3.0, "depth_1_0": 0.2, "width": 10.0}
        near = pygmm.Scenario(mag=magnitude, dist_jb=distance, v_s30=speed, region="california", **given)
        return np.log(pygmm.BooreStewartSeyhanAtkinson2014(near).pga)

    return f


@program("dcmri", 10.0, 0.4)
def chain_of_vessels(dcmri):
    return lambda T, D: weighted(dcmri.flux_chain(np.exp(-TIMES / 20), T, D, t=TIMES))


@program("dcmri", 0.2, 0.6)
def arterial_input(dcmri):
    return lambda dose, lost: weighted(dcmri.aif_tristan(TIMES, dose=dose, E=lost))


# ------------------------------------------------------------------------------------- distributions, fits, decisions


@program("chaospy", 0.3, 1.2, 0.7)
def normal_density(chaospy):
    return lambda mu, sigma, x: chaospy.Normal(mu, sigma).pdf(x)


@program("powerlaw", 2.5, 1.2)
def heavy_tail(powerlaw):
    return lambda a, x: weighted(powerlaw.Power_Law(xmin=1.0, parameters=[a]).pdf(np.array([1.5, 2.0, x + 2])))


@program("pwlf", 1.2, 2.7)
def broken_line(pwlf):
    def f(y, z):
        data = np.array([0.0, y, 1.9, z, 2.9, 3.6, 5.0, 5.5])
        return pwlf.PiecewiseLinFit(np.linspace(0, 7, 8), data).fit_with_breaks([0.0, 3.1, 7.0])

    return f


@program("skgstat.models", 5.0, 1.2, 0.1)
def variograms(models):
    at = np.array([1.0, 2.0, 4.0, 7.0])
    return lambda r, c, b: weighted(models.spherical(at, r, c, b) + models.gaussian(at, r, c, b))


@program("zepid.calc", 30.0, 70.0, 20.0, 90.0)
def ratio_of_risks(calc):
    return lambda a, b, c, d: weighted(list(calc.risk_ratio(a, b, c, d))[:4])


@program("pyDecision.algorithm", 8.2, 9.3)
def weights_of_criteria(algorithm):
    def f(x, y):
        table = np.array([[7.0, 9.0, 9.5, 8.0], [8.0, 7.0, x, 7.1], [9.0, 6.0, 8.0, y], [6.0, 7.5, 7.9, 6.4]])
        return weighted(algorithm.entropy_method(table, ["max", "max", "min", "max"]))

    return f


# ------------------------------------------------------------------------------------- prices, surfaces, colours, time


@program("talipp.indicators", 101.0, 99.5)
def strength_of_a_price(indicators):
    return lambda p, q: indicators.RSI(5, [*(100 + 3 * WAVE), p, q])[-1]


@program("polliwog.tri", 0.3, 0.4)
def normal_of_a_triangle(tri):
    return lambda x, z: weighted(tri.surface_normals(np.array([[0.0, 0.0, 0.0], [1.0, 0.2, 0.0], [x, 1.0, z]])))


@program("colorspace.colorlib", 0.3, 0.5, 0.7)
def perceived_colour(colorlib):
    def f(*rgb):
        colour = colorlib.sRGB(*[np.array([x]) for x in rgb])
        colour.to("CIELUV")
        return weighted([colour.get(name)[0] for name in "LUV"])

    return f


@program("tsmoothie.smoother", 0.4, 0.3)
def smoothed(smoother):
    return lambda a, b: weighted(smoother.ExponentialSmoother(4, 0.3).smooth(a * WAVE + b).smooth_data)

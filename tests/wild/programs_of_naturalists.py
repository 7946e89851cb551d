"""Functions of public packages: spectra, tides, soils, signals, chances, spins, lattices, tracks and flights."""

from __future__ import annotations

import datetime
from itertools import pairwise

import numpy as np
from wild.programs import program

TIMES = np.arange(60)
WAVE = np.sin(0.37 * TIMES**2) + 0.4 * np.cos(1.3 * TIMES + 0.2)


def weighted(result):
    """One number of many."""
    x = np.ravel(result)
    return np.sum(x * (1 + 0.3 * np.cos(np.arange(len(x)))))


# ---------------------------------------------------------------------------------------------- spectra, tides, soils


@program("spectres", 1.02)
def spectrum_of_another_redshift(spectres):
    old, new = np.linspace(1, 10, 40), np.linspace(2, 9, 12)
    return lambda z: weighted(spectres.spectres(new, old * z, np.sin(old)))


@program("nmrglue.process.proc_base", 0.5, 0.2)
def phased_spectrum(process):
    decay = np.exp(-TIMES / 20 + 0.7j * TIMES)
    return lambda lb, p0: weighted(np.real(process.ps(process.fft(process.em(decay, lb=lb)), p0=100 * p0, p1=10.0)))


@program("deerlab", 0.3, 0.2)
def dipolar_background(deerlab):
    t = np.linspace(0, 3, 40)
    return lambda k, depth: weighted(deerlab.bg_hom3d(t, 200 * k, depth)) + weighted(deerlab.bg_strexp(t, k, 1.2))


@program("utide", 1.2, 0.4)
def tidal_constituents(utide):
    t = np.arange(0, 15, 1 / 24)
    given = {"method": "ols", "conf_int": "none", "verbose": False, "nodal": False, "trend": False}

    def f(a, b):
        height = a * np.cos(2 * np.pi * t / 0.5175 + 0.3) + b * np.cos(2 * np.pi * t / 0.9973) + 0.1
        found = utide.solve(t, height, lat=45.0, epoch="2000-01-01", constit=["M2", "K1", "O1"], **given)
        return weighted(found.A)

    return f


@program("py_wave_runup.models", 4.0, 11.0, 0.1)
def run_up_of_waves(models):
    return lambda Hs, Tp, beta: models.Stockdon2006(Hs=Hs, Tp=Tp, beta=beta, h=15.0).R2


@program("insolation.insolf", 1.3, 0.4)
def shaded_hills(insolf):
    hills = np.outer(np.sin(0.5 * np.arange(6)), np.cos(0.3 * np.arange(7)))
    sun = np.array([0.3, 0.4, 0.866])
    return lambda a, b: weighted(insolf.hillshading(a * hills + b * np.arange(7) ** 1.5, 1.0, sun))


@program("sharppy.sharptab.thermo", 900.0, 20.0, 12.0)
def lifted_parcel(thermo):
    """Its loops stand in a `try`, whose handler is for arrays."""
    return lambda p, t, td: thermo.thetae(p, t, td) + thermo.wetbulb(p, t, td) + thermo.lifted(p, t, td, 500.0)


@program("sfsimodels", 30e6, 0.3)
def moduli_of_a_soil(models):
    """A soil is its own iterator."""

    def f(shear, ratio):
        soil = models.Soil()
        soil.g_mod, soil.poissons_ratio = shear, ratio
        return soil.bulk_mod / 1e6

    return f


@program("rosetta", 40.0, 30.0)
def retention_of_a_soil(rosetta):
    model = rosetta.Rosetta(rosetta_version=3, model_code=2)
    return lambda sand, silt: weighted(model.predict([[sand, silt, 100 - sand - silt]])[0])


@program("pcse.util", 20.0, 12.0)
def evapotranspiration(util):
    day = datetime.date(2020, 6, 1)
    return lambda most, least: util.penman_monteith(day, 52.0, 10.0, least, most, 20e6, 12.0, 2.0)


# ---------------------------------------------------------------------------------------------------- signals, chances


@program("MFDFA", 1.0, 0.3)
def fractal_of_a_signal(MFDFA):
    lag = np.array([6, 8, 12, 15])
    return lambda a, b: weighted(np.log(MFDFA.MFDFA(a * WAVE + b * np.sin(0.1 * TIMES), lag=lag, q=2)[1]))


@program("pints.toy", 0.1, 50.0)
def logistic_growth(toy):
    return lambda r, k: weighted(toy.LogisticModel().simulate([r, k], np.linspace(0, 100, 11)))


@program("reliability.Distributions", 2.0, 1.4)
def life_of_a_part(distributions):
    """Asks SciPy for all moments."""
    return lambda a, b: distributions.Weibull_Distribution(alpha=a, beta=b).skewness + a


@program("gemact.copulas", 0.3, 0.7)
def joint_chance(copulas):
    return lambda u, v: weighted(copulas.ClaytonCopula(par=1.4, dim=2).cdf(np.array([[u, v]])))


@program("pyvolve", 2.0, 0.3)
def rates_of_mutation(pyvolve):
    def f(kappa, a):
        frequencies = [0.25 + 0.1 * a, 0.25 - 0.1 * a, 0.3, 0.2]
        return weighted(pyvolve.Model("nucleotide", {"kappa": kappa, "state_freqs": frequencies}).matrix)

    return f


@program("dendropy", 0.3, 0.4)
def length_of_a_tree(dendropy):
    """A tree is read from a text, letter by letter."""

    def f(a, b):
        tree = dendropy.Tree.get(data="((A:0.1,B:0.2):0.3,C:0.5);", schema="newick")
        for edge, length in zip(list(tree.postorder_edge_iter()), [a, b, a * b, 0.3, 0.1], strict=True):
            edge.length = length
        return tree.length()

    return f


# ---------------------------------------------------------------------------- spins, lattices, frames, roads, flights


@program("precession", 0.7, 0.4, 0.6)
def merged_black_holes(precession):
    return lambda q, c1, c2: weighted(precession.remnantmass(0.5, 1.1, q, c1, c2))


@program("pythtb", 0.3, 1.1)
def bands_of_graphene(pythtb):
    def f(onsite, hop):
        model = pythtb.tb_model(2, 2, [[1.0, 0.0], [0.5, np.sqrt(3) / 2]], [[1 / 3, 1 / 3], [2 / 3, 2 / 3]])
        model.set_onsite([-onsite, onsite])
        for cell in ([0, 0], [-1, 0], [0, -1]):
            model.set_hop(hop, 0, 1, cell)
        return weighted(model.solve_all([[0.1, 0.2], [0.3, 0.4]]))

    return f


@program("tensornetwork", 0.3, 0.7)
def contracted_network(tensornetwork):
    def f(a, b):
        x = tensornetwork.Node(np.array([[a, 1.0], [0.3, b]]))
        y = tensornetwork.Node(np.array([[b, 0.2], [1.0, a]]))
        tensornetwork.connect(x[1], y[0])
        tensornetwork.connect(x[0], y[1])
        return (x @ y).tensor

    return f


@program("feon.sa", 210e6, 0.005, 6.0)
def deflected_beam(sa):
    def f(E, inertia, length):
        nodes = [sa.Node(0, 0), sa.Node(length / 2, 0), sa.Node(length, 0.3)]
        system = sa.System()
        system.add_nodes(*nodes)
        system.add_elements(*[sa.Beam2D11(pair, E, 0.01, inertia) for pair in pairwise(nodes)])
        system.add_node_force(1, Fy=-10.0)
        system.add_fixed_sup(0)
        system.add_rolled_sup(2, "y")
        system.solve()
        return nodes[1].disp["Uy"] * 1e3 + nodes[2].disp["Phz"]

    return f


@program("gpxpy.geo", 52.2, 0.3, 100.0)
def length_of_a_track(geo):
    def f(lat, lon, height):
        steps = [(0.0, 0.0, height), (0.01, 0.02, 1.1 * height), (0.03, 0.01, 120.0)]
        return geo.length_3d([geo.Location(lat + a, lon + b, h) for a, b, h in steps])

    return f


@program("ladybug.sunpath", 40.0, 10.0)
def height_of_the_sun(sunpath):
    def f(latitude, hour):
        sun = sunpath.Sunpath(latitude=latitude, longitude=-74.0, time_zone=-5).calculate_sun(6, 21, 10.0)
        return sun.altitude + 0.3 * sun.azimuth + hour

    return f


@program("pyBADA.atmosphere", 3000.0, 150.0)
def speed_of_a_flight(air):
    def f(height, speed):
        theta, delta = air.theta(h=height, deltaTemp=0.0), air.delta(h=height, deltaTemp=0.0)
        return air.cas2Tas(cas=speed, delta=delta, sigma=air.sigma(theta=theta, delta=delta))

    return f

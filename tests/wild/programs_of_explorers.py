"""Functions of public packages: climates and seas, lights and rotors, proteins, splines and paths, grids, ratings."""

from __future__ import annotations

import math

import numpy as np
from wild.programs import program

LINE = np.linspace(0.0, 10.0, 40)


@program("astronomy", 8900.25)
def moon_at_a_time(astronomy):
    def f(days):
        place = astronomy.GeoMoon(astronomy.Time(days))
        return 1e3 * (place.x + 2 * place.y + place.z)

    return f


@program("astronomy", 0.3, 0.7)
def turned_axes(astronomy):
    def f(a, b):
        turned = astronomy.Pivot(astronomy.Pivot(astronomy.IdentityMatrix(), 0, 57 * a), 1, 57 * b)
        v = astronomy.RotateVector(turned, astronomy.Vector(1.0, 2.0, 3.0, astronomy.Time(0.0)))
        return v.x + 2 * v.y + 3 * v.z

    return f


@program("fair.energy_balance_model", 1.2, 8.0)
def sensitivity_of_a_climate(model):
    def f(transfer, capacity):
        climate = model.EnergyBalanceModel(
            ocean_heat_capacity=[capacity, 15.0, 100.0], ocean_heat_transfer=[transfer, 1.5, 0.8], forcing_4co2=8.0
        )
        climate.emergent_parameters()
        return climate.ecs + climate.tcr

    return f


@program("PyCO2SYS.equilibria", 288.0, 35.0)
def acid_of_the_sea(equilibria):
    def f(temperature, salinity):
        first, second = equilibria.p1atm.kH2CO3_SWS_GP89(temperature, salinity)
        return np.log(first) + np.log(second)

    return f


@program("metpy.calc", 290.0, 900.0)
def potential_temperature(calc):
    from metpy.units import units

    return lambda t, p: calc.potential_temperature(p * units.hPa, t * units.kelvin).magnitude


@program("acoustics.atmosphere", 293.0, 50.0)
def sound_in_air(atmosphere):
    def f(temperature, humidity):
        air = atmosphere.Atmosphere(temperature=temperature, relative_humidity=humidity)
        return air.soundspeed / 100 + 100 * np.sum(air.attenuation_coefficient(np.array([500.0, 4000.0])))

    return f


@program("pygfunction.pipes", 0.3, 2.0)
def pipe_in_the_ground(pipes):
    return lambda flow, k: (
        pipes.convective_heat_transfer_coefficient_circular_pipe(flow, 0.013, 0.00203, 1016.0, 0.492, 3977.0, 1e-6)
        / 1e3
        + pipes.conduction_thermal_resistance_circular_pipe(0.013, 0.016, k)
    )


@program("pyromat", 500.0, 3.0)
def entropy_of_nitrogen(pyromat):
    gas = pyromat.get("ig.N2")
    return lambda t, p: np.sum(gas.s(T=t, p=p)) + np.sum(gas.cp(T=t))


@program("hapi", 296.5)
def partition_sum(hapi):
    return lambda t: hapi.partitionSum(1, 1, t) / 100


@program("pvmismatch", 0.9, 298.0)
def cell_in_the_sun(pvmismatch):
    def f(suns, temperature):
        cell = pvmismatch.PVcell(Ee=suns, Tcell=temperature)
        return np.sum(cell.Isc + 10 * cell.Voc + cell.calcVcell(3.0))

    return f


@program("control", 2.0, 0.4)
def regulator(control):
    a, b = np.array([[0.0, 1.0], [0.0, -0.2]]), np.array([[0.0], [1.0]])

    def f(q, r):
        gain, cost, _ = control.lqr(a, b, np.array([[q, 0.0], [0.0, 1.0]]), np.array([[r]]))
        return np.sum(gain) + np.sum(cost)

    return f


@program("multitaper", 0.3, 1.7)
def spectrum_of_tapers(multitaper):
    t = np.linspace(0, 10, 64)

    def f(a, b):
        x = a * np.sin(3 * t) + b * np.cos(t)
        return np.sum(multitaper.MTSpec(x, nw=3.0, kspec=4, dt=0.1, iadapt=1).spec[:9])

    return f


@program("nitime.algorithms", 0.3, 1.7)
def autoregression(algorithms):
    def f(a, b):
        coefficients, noise = algorithms.AR_est_YW(a * np.sin(3 * LINE) + b * np.cos(LINE) + np.sin(LINE**2), 3)
        return np.sum(coefficients) + noise

    return f


@program("findiff", 0.3, 1.7)
def differences_on_a_grid(findiff):
    x = np.linspace(0, 1, 12)
    second = findiff.FinDiff(0, x[1] - x[0], 2, acc=4)
    return lambda a, b: np.sum(second(np.sin(a * x) * b) * np.cos(x))


@program("svgpathtools", 0.3, 1.7)
def length_of_a_path(svg):
    def f(a, b):  # complex points, which the integrand closes over
        bow = svg.CubicBezier(0j, complex(1, 1) * a, complex(2, -1) * b, 3 + 0j)
        return svg.Path(bow, svg.Line(3 + 0j, 3 + 1j * b)).length()

    return f


@program("beziers.cubicbezier", 30.0, 70.0)
def stroke_of_a_letter(beziers):
    from beziers.point import Point

    def f(a, b):
        stroke = beziers.CubicBezier(Point(0, 0), Point(a, 100), Point(200, b), Point(300, 0))
        return stroke.length + stroke.pointAtTime(0.3).x + stroke.area / 1000 + stroke.curvatureAtTime(0.4)

    return f


@program("colorzero", 0.3, 0.7)
def difference_of_colours(colorzero):
    red = colorzero.Color("red")

    def f(r, g):  # a root whose exponent is a fraction
        colour = colorzero.Color.from_rgb(r, g, 0.2)
        return colour.hls[1] + colour.lab.a + colour.difference(red, method="cie1976") / 10

    return f


@program("opensimplex", 0.3, 0.7)
def noise_in_the_plane(opensimplex):
    opensimplex.seed(3)
    return lambda x, y: opensimplex.noise2(x, y) + opensimplex.noise3(x, y, 0.2)


@program("kingdon", 0.3, 0.7)
def geometric_product(kingdon):
    algebra = kingdon.Algebra(2, 0, 1)

    def f(a, b):
        product = algebra.multivector(e1=a, e2=b, e0=1.0) * algebra.multivector(e1=1.0, e2=a, e0=2.0)
        return product.e12 + product.e

    return f


@program("pycpd", 0.3, 1.7)
def registration_of_points(pycpd):
    points = np.array([[0.0, 0], [1, 0], [0, 2], [1.5, 1]])

    def f(a, scale):
        turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
        found = pycpd.RigidRegistration(X=points, Y=scale * points @ turn.T, max_iterations=5, tolerance=0.0)
        size, rotation, shift = found.register()[1]
        return size + np.sum(shift) + rotation[0, 1]

    return f


@program("nibabel.eulerangles", 0.3, 0.7)
def angles_there_and_back(eulerangles):
    def f(a, b):
        matrix = eulerangles.euler2mat(a, b, a * b)
        return np.sum(matrix * np.arange(9.0).reshape(3, 3)) + sum(eulerangles.mat2euler(matrix))

    return f


@program("Bio.PDB.vectors", 0.3, 0.7)
def dihedral_angle(vectors):
    def f(a, b):
        v, w = vectors.Vector(a, 1.0, 0.0), vectors.Vector(1.0, b, 0.5)
        angle = vectors.calc_dihedral(v, w, vectors.Vector(0, 0, 1), vectors.Vector(1, 2, 3))
        return angle + v.angle(w) + (v**w).norm()

    return f


@program("Bio.SeqUtils.MeltingTemp", 50.0, 25.0)
def melting_point(melting):
    return lambda sodium, dna: melting.Tm_NN("ACGTTGCAATGCC", Na=sodium, dnac1=dna)


@program("peptides", 7.0)
def charge_of_a_peptide(peptides):
    chain = peptides.Peptide("ACDEFGHIKLMNPQRSTVWY")
    return lambda acidity: chain.charge(pH=acidity)


@program("molmass", 2.0)
def masses(molmass):
    coffee, water = molmass.Formula("C8H10N4O2"), molmass.Formula("H2O")
    return lambda a: coffee.mass * a + water.isotope.mass * a**2


@program("pypulseq", 0.3, 0.7)
def gradient_pulse(pypulseq):
    def f(a, b):
        pulse = pypulseq.make_trapezoid("x", area=100.0 * (1 + a), duration=5e-3 * (1 + b))
        return pulse.amplitude / 1e4 + pulse.rise_time * 1e3

    return f


@program("rocketpy.mathutils.vector_matrix", 0.3, 0.7)
def vectors_of_a_rocket(mathutils):
    def f(a, b):
        v, w = mathutils.Vector([a, 1.0, b]), mathutils.Vector([1.0, b, 2.0])
        u = mathutils.Matrix.transformation([math.cos(a), math.sin(a), 0.0, 0.0]) @ (v ^ w)
        return u.x + 2 * u.y + abs(v) + v @ w

    return f


@program("ffpack.rrm", 0.3, 1.7)
def safety_of_a_part(rrm):
    from scipy import stats

    def f(a, spread):
        limit = lambda x: -np.sum(x) + a + 3
        slopes = [lambda x: -1.0, lambda x: -1.0]
        loads = [stats.norm(0, spread), stats.norm(0, 1.0)]
        return rrm.hlrfFORM(2, limit, slopes, loads, [[1.0, 0.0], [0.0, 1.0]])[0]

    return f


@program("freegs.gradshafranov", 0.3, 1.7)
def field_of_a_coil(gradshafranov):
    return lambda r, z: (
        1e6
        * sum(green(1.0, 0.0, r, z) for green in (gradshafranov.Greens, gradshafranov.GreensBz, gradshafranov.GreensBr))
    )


@program("pyhf", 1.1, 0.5)
def likelihood_of_counts(pyhf):
    model = pyhf.simplemodels.uncorrelated_background([5.0, 10.0], [50.0, 60.0], [5.0, 12.0])
    data = [52.0, 65.0, *model.config.auxdata]
    return lambda strength, a: model.logpdf(np.array([strength, 1.0 + a / 10, 0.95]), data)[0]


@program("nestle", 0.3, 1.7)
def weighted_moments(nestle):
    x = np.linspace(0, 1, 12)

    def f(a, b):
        weights = np.exp(-x * a)
        mean, spread = nestle.mean_and_cov(np.stack([x * a, np.sin(b * x)], 1), weights / np.sum(weights))
        return np.sum(mean) + np.sum(spread)

    return f


@program("psignifit.sigmoids", 0.3, 1.7)
def psychometric_function(sigmoids):
    sigmoid = sigmoids.sigmoid_by_name("norm", PC=0.5, alpha=0.05)
    return lambda threshold, width: np.sum(sigmoid(np.array([0.1, 0.5, 0.9]), threshold, width))


@program("simpful", 0.3, 1.7)
def fuzzy_sets(simpful):
    return lambda x, width: (
        simpful.GaussianFuzzySet(0.2, width, "x").get_value(x)
        + simpful.TriangleFuzzySet(0, width, 3, term="t").get_value(x)
        + simpful.SigmoidFuzzySet(0.2, width, "x").get_value(x)
    )


@program("niapy.problems", 0.3, 0.7)
def problems_of_insects(problems):
    chosen = [problems.Ackley(2), problems.Griewank(2), problems.Levy(2), problems.Whitley(2)]
    return lambda a, b: sum(problem._evaluate(np.array([a, b])) for problem in chosen)


@program("fbm", 0.7)
def fractional_noise(fbm):
    return lambda hurst: fbm.FBM(n=8, hurst=hurst, length=1, method="daviesharte")._autocovariance(3)


@program("coord_convert.transform", 120.2, 30.1)
def coordinates_of_maps(transform):
    return lambda a, b: sum(transform.wgs2gcj(a, b)) + sum(transform.wgs2bd(a, b)) + sum(transform.gcj2wgs(a, b))


@program("physipy", 0.3, 0.7)
def measured(physipy):
    def f(a, b):
        work = physipy.Quantity(a, physipy.Dimension("L")) * physipy.Quantity(b, physipy.Dimension("M"))
        return (work**2).value + (work + work).value

    return f


@program("opt_einsum", 0.3, 0.7)
def contracted(opt_einsum):
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    return lambda x, y: np.sum(opt_einsum.contract("ij,jk,kl->il", a * x, b, b.T * y) ** 2) / 1e4


@program("geofound.models", 30.0, 18.0)
def weight_of_soil(models):
    def f(angle, weight):  # what is not known yet is None, and a TypeError is caught
        soil = models.create_soil(angle, 5.0, weight)
        return soil.phi * soil.unit_dry_weight

    return f

"""Functions of public packages: money, ratings, maps, colours, fits, filters, vehicles, problems for optimisers."""

from __future__ import annotations

from math import exp, sin

import numpy as np
from wild.programs import program

POINTS = np.array([[0.0, 1.0], [1.0, 2.1], [2.0, 1.9], [2.5, 0.4], [1.2, -0.6], [0.2, 0.1], [1.8, 2.2]])


def moved(a, b):
    return POINTS + np.array([[a, b], [0, 0], [b, a], [0, 0], [0, 0], [0, 0], [0, 0]])


@program("putcall", 100.0, 0.3, 1.5)
def calls_by_three_formulas(p):
    return lambda f, v, t: (
        p.black(f, 105.0, t, v, True) + p.black_digital(f, 105.0, t, v, True) + p.bachelier(f, 105.0, t, 20 * v, True)
    )


@program("dcf", 0.03, 0.05)
def curve_of_zero_rates(dcf):
    from businessdate import BusinessDate

    today = BusinessDate(20200101)

    def f(a, b):
        curve = dcf.ZeroRateCurve([today + "1y", today + "2y", today + "5y"], [a, 0.5 * (a + b), b], origin=today)
        return curve.get_discount_factor(today + "3y") + curve.get_cash_rate(today + "2y", step="1y")

    return f


@program("mathtoolspy.integration.gauss_legendre_integrator", 0.7, 2.0)
def integral_by_legendre(m):
    return lambda a, b: m.GaussLegendreIntegrator(20)(lambda x: exp(-a * x) * sin(x), 0.0, b)


@program("mathtoolspy.solver.minimize_algorithm_1dim_brent", 0.7, 2.0)
def minimum_by_brent(m):
    find = m.minimize_algorithm_1dim_brent
    return lambda a, b: find(lambda x: (x - a) ** 2 + b + 0.1 * x**4, -3.0, 0.5, 4.0)[1]


@program("mathtoolspy.interpolation.spline", 0.7, 2.0, 1.3)
def spline_of_an_interval(m):
    return lambda x, a, b: m.natural_spline([0.0, 1.0, 2.0, 4.0], [a, b, 0.5, a * b])(x)


@program("mathtoolspy.matrix.misc", 0.7, 2.0)
def matrices_of_lists(m):
    def f(a, b):
        rows = [[a, 1.0, 2.0], [b, 3.0, 1.0], [2.0, a, b]]
        return m.getMatrixDeternminant(rows) + m.getMatrixInverse(rows)[0][1] + m.cholesky([[4 + a, b], [b, 5.0]])[1][1]

    return f


@program("elopy.elo", 1600.0, 1500.0)
def chances_of_two_teams(e):
    return lambda a, b: e.Elo(a).win_probs(e.Elo(b)) + e.Elo(a).point_spread(e.Elo(b)) / 100


@program("area", 3.0, 40.0)
def area_of_a_country(m):
    return lambda a, b: (
        m.area({"type": "Polygon", "coordinates": [[[0.0, b], [a, b + 1], [a + 1, b + 3], [0.0, b]]]}) / 1e6
    )


@program("great_circle_calculator.great_circle_calculator", 20.0, 40.0)
def way_along_a_great_circle(g):
    return lambda a, b: (
        g.distance_between_points((a, b), (a + 3, 41.0)) / 1e3
        + g.bearing_at_p1((a, b), (25.0, 41.0))
        + g.intermediate_point((a, b), (25.0, 41.0), 0.3)[0]
    )


@program("eviltransform", 31.2, 121.4)
def shifted_coordinates(e):
    return lambda a, b: e.wgs2gcj(a, b)[0] * 10 + e.gcj2wgs(a, b)[1] + e.distance(a, b, 31.0, 121.0) / 100


@program("rdp", 0.3, 0.2)
def line_of_fewer_points(m):
    return lambda a, b: np.sum(
        m.rdp(np.array([[0.0, 0.0], [1.0, a], [2.0, 0.1 * b], [3.0, 5.0 + a], [4.0, 6.0], [5.0, 7.0]]), epsilon=0.5)
    )


@program("grapefruit", 0.3, 0.5, 0.6)
def colour_in_five_spaces(g):
    c = g.Color
    return lambda r, g, b: (
        sum(c.RgbToHsl(r, g, b)[1:]) + sum(c.RgbToYuv(r, g, b)) + sum(c.XyzToLab(*c.RgbToXyz(r, g, b)))
    )


@program("colorutils.convert", 100.0, 150.0, 30.0)
def colour_of_television(m):
    return lambda r, g, b: sum(m.rgb_to_yiq((r, g, b))) + sum(m.rgb_to_hsv((r, g, b))[1:])


@program("wcag_contrast_ratio", 0.3, 0.5)
def contrast_of_a_page(m):
    return lambda a, b: m.rgb((a, b, 0.2), (0.9, 0.8, b))


@program("vector3d.vector", 0.7, 1.2)
def angle_of_vectors(m):
    return lambda a, b: m.angle(m.Vector(a, b, 1.0), m.Vector(1.0, a, b))


@program("circle_fit", 0.1, 0.2)
def circle_by_pratt(m):
    return lambda a, b: m.prattSVD(moved(a, b))[2] + m.hyperLSQ(moved(a, b))[0]


@program("ellipse", 0.1, 0.2)
def ellipse_through_points(m):
    def f(a, b):
        centre, width, height, _ = m.LsqEllipse().fit(moved(a, b)).as_parameters()
        return centre[0] + width * height

    return f


@program("landscapes.single_objective", 0.3, 0.7)
def landscapes_of_two(m):
    functions = [m.ackley, m.ackley_n2, m.adjiman, m.beale, m.bird, m.booth, m.branin, m.brent, m.bohachevsky_n1]
    return lambda a, b: sum(f(np.array([a, b])) for f in functions)


@program("optproblems.continuous", 4.1, 3.9)
def foxholes(m):
    shekel, hartman, branin = m.Shekel(5), m.Hartman3(), m.Branin()
    return lambda a, b: (
        shekel.objective_function([a, b, 4.0, 4.0])
        + hartman.objective_function([0.1 * a, 0.1 * b, 0.5])
        + branin.objective_function([a, b])
    )


@program("neat.activations", 0.3)
def activations_that_evolve(m):
    names = ("sigmoid", "tanh", "gauss", "relu", "elu", "softplus", "selu", "log", "hat", "inv", "clamped")
    return lambda a: sum(getattr(m, f"{name}_activation")(a) for name in names)


@program("gmr", 0.3, 0.6)
def conditional_normal(m):
    def f(a, b):
        both = m.MVN(mean=np.array([a, b]), covariance=np.array([[1.0 + a, 0.2], [0.2, b]]))
        given = both.condition(np.array([0]), np.array([0.7]))
        return given.mean[0] + both.to_probability_density(np.array([[0.3, 0.1]]))[0]

    return f


@program("sdeint", 0.3, 0.6)
def stochastic_equation(m):
    t, dw = np.linspace(0, 1, 11), np.random.default_rng(0).normal(size=(10, 1)) * 0.3

    def f(a, b):
        drift = lambda x, t: -(a + x * b**2) * (1 - x**2)
        return np.sum(m.itoEuler(drift, lambda x, t: b * (1 - x**2), 0.1, t, dW=dw)[-1])

    return f


@program("vehiclemodels.vehicle_dynamics_st", 0.1, 0.2, 15.0)
def car_on_a_single_track(m):
    from vehiclemodels.parameters_vehicle2 import parameters_vehicle2

    p = parameters_vehicle2()
    return lambda a, b, v: sum(m.vehicle_dynamics_st([0.0, 0.0, a, v, 0.1, 0.05, 0.01], [b, 1.0], p))


@program("yodel.filter", 1000.0, 0.7)
def two_filters_in_a_row(m):
    x = [float(np.sin(0.3 * k)) for k in range(40)]

    def f(cutoff, resonance):
        b, y, z = m.Biquad(), [0.0] * 40, [0.0] * 40
        b.low_pass(44100.0, cutoff, resonance)
        b.process(x, y)
        b.peak(44100.0, 2 * cutoff, resonance, 6.0)
        b.process(y, z)
        return sum(v * v for v in z)

    return f


@program("pymannkendall", 0.3, 0.7)
def slope_of_a_trend(m):
    return lambda a, b: m.sens_slope(np.array([a, b, 1.0, 1.4, 1.2, 2.0])).slope


@program("permetrics.regression", 2.1, 0.4)
def scores_of_a_prediction(m):
    names = ("RMSE", "MAE", "NSE", "KGE", "R2", "WI", "MAPE", "EVS")
    truth = np.array([3.0, 0.5, 2.0, 7.0])
    return lambda a, b: sum(getattr(m.RegressionMetric(truth, np.array([a, b, 2.2, 7.8])), name)() for name in names)

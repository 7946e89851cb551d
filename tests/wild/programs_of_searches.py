"""Functions of public packages: ratings, shapes, cameras, colours, learning, and what optimisers are tried on."""

from __future__ import annotations

import numpy as np
from wild.programs import program


@program("trueskillthroughtime", 1.0, 6.0)
def rating_after_a_game(t):
    def posterior(mu, sigma):
        teams = [[t.Player(t.Gaussian(m, s), 1.0, 0.03)] for m, s in ((mu, sigma), (0.0, 6.0))]
        (a,), (b,) = t.Game(teams, [1, 0], 0.1).posteriors()
        return a.mu + b.sigma

    return posterior


@program("compas.geometry", 1.0, 2.0)
def point_in_a_frame(g):
    def local(a, b):
        frame = g.Frame.from_points([0, 0, a], [1, b, 0], [0, 1, 1])
        p = frame.to_local_coordinates(g.Point(1, 2, b))
        return p.x + p.y * p.z

    return local


@program("compas.geometry", 1.0, 2.0)
def polygon_in_space(g):
    def measured(a, b):
        corners = [[0, 0, 0], [a, 0, 0.1], [a, b, 0], [0, b, 0.1]]
        return g.area_polygon(corners) + g.centroid_polygon(corners)[0]

    return measured


@program("compas.geometry", 0.3, 0.7)
def rotated_by_angles(g):
    return lambda a, b: g.Point(1, 2, 3).transformed(g.Rotation.from_euler_angles([a, b, 0.2])).x


@program("cameratransform", 20.0, 30.0)
def seen_by_a_camera(c):
    lens = c.RectilinearProjection(focallength_px=3000, image=(1000, 800))

    def pixels(height, tilt):
        camera = c.Camera(lens, c.SpatialOrientation(elevation_m=height, tilt_deg=tilt))
        return np.sum(camera.imageFromSpace(np.array([[1.0, 60.0, 0.5]]))) / 1000

    return pixels


@program("bezier.hazmat.curve_helpers", 1.5, 0.6)
def curvature_of_a_curve(h):
    def measured(a, b):
        nodes = np.array([[0.0, a, 1.0], [0.0, 1.0, b]])
        bend = h.get_curvature(nodes, h.evaluate_hodograph(0.3, nodes), 0.3)
        return np.sum(h.evaluate_multi(nodes, np.array([0.2, 0.6]))) + bend

    return measured


@program("mlxtend.classifier", 0.3, 1.2)
def cost_after_training(m):
    X = np.random.default_rng(0).normal(size=(20, 2))
    labels = (X[:, 0] > 0).astype(int)

    def cost(rate, penalty):
        model = m.LogisticRegression(eta=rate, l2_lambda=penalty, epochs=5, minibatches=1, random_seed=1)
        return model.fit(X, labels).cost_[-1]

    return cost


@program("deap.benchmarks", 0.3, 0.6)
def functions_for_evolution(b):
    single = b.sphere, b.rosenbrock, b.ackley, b.griewank, b.rastrigin, b.schaffer, b.cigar, b.schwefel

    def total(x, y):
        return sum(f([x, y, 0.2])[0] for f in single) + b.zdt1([x, y, 0.2])[1] + b.dtlz2([x, y, 0.2], 2)[0]

    return total


@program("benchmark_functions", 0.3, 0.6)
def functions_with_their_minima(b):
    fs = [b.Hypersphere(2), b.Ackley(2), b.MartinGaddy(), b.Easom(), b.McCormick(), b.StyblinskiTang(2)]
    return lambda x, y: sum(f([x, y]) for f in fs)


@program("platypus", 0.3, 0.6)
def problem_with_two_objectives(p):
    problem = p.DTLZ2(2)

    def total(a, b):
        solution = p.Solution(problem)
        solution.variables[:] = [a, b] + [0.3] * (problem.nvars - 2)
        problem.evaluate(solution)
        return solution.objectives[0] + 2 * solution.objectives[1]

    return total


@program("inspyred.benchmarks", 0.3, 0.6)
def problems_for_populations(b):
    problems = b.Rosenbrock(3), b.Ackley(3)
    return lambda x, y: sum(p.evaluator([[x, y, 0.2]], {})[0] for p in problems)


@program("sko.demo_func", 1.0, 2.0)
def functions_for_swarms(s):
    fs = s.schaffer, s.sixhumpcamel, s.griewank, s.rastrigrin, s.sphere, s.shubert
    return lambda a, b: sum(f((a, b)) for f in fs)

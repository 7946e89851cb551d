"""Functions of public packages: learning and copulas, fields and elements, noise, sound, weather, images."""

from __future__ import annotations

import numpy as np
from wild.programs import program

DRAWN = np.random.default_rng(0)
ROWS, TARGETS = DRAWN.normal(size=(10, 3)), DRAWN.normal(size=10)
TIMES = np.arange(64) * 0.3


@program("numpy_ml.linear_models", 0.5)
def ridge_regression(linear_models):
    def f(alpha):
        model = linear_models.RidgeRegression(alpha=alpha, fit_intercept=True)
        model.fit(ROWS, TARGETS)
        return np.sum(model.predict(ROWS[:3]) ** 2) + np.sum(model.beta**2)

    return f


@program("numpy_ml.linear_models", 0.7)
def bayesian_regression(linear_models):
    def f(width):
        model = linear_models.BayesianLinearRegressionKnownVariance(b_mean=0, b_sigma=width, fit_intercept=False)
        model.fit(ROWS, TARGETS)
        return np.sum(model.posterior["b"]["mu"] ** 2) + np.trace(model.posterior["b"]["cov"])

    return f


@program("numpy_ml.neural_nets.layers", 0.6, -0.4)
def layers_with_normalisation(layers):
    def f(a, b):
        np.random.seed(0)  # noqa: NPY002
        x = ROWS[:4] * a + b * ROWS[4:8] ** 2
        return np.sum(layers.Softmax().forward(layers.LayerNorm1D().forward(x))[:, 0] ** 2)

    return f


@program("numpy_ml.nonparametric", 0.9)
def kernel_regression(nonparametric):
    def f(s):
        model = nonparametric.KernelRegression(kernel="RBFKernel(sigma=1)")
        model.fit(ROWS * s, TARGETS)
        return np.sum(model.predict(ROWS[:3] + 0.1) ** 2)

    return f


@program("numpy_ml.preprocessing.dsp", 0.3, 1.1)
def frames_of_a_sound(dsp):
    def f(pitch, loudness):
        frames = dsp.to_frames(loudness * np.sin(np.arange(64) * pitch), 16, 8)
        return np.sum(frames**2 * np.arange(16)) + dsp.preemphasis(frames[0], 0.9)[3]

    return f


@program("numpy_ml.hmm", 0.6, 0.3)
def likelihood_of_a_markov_chain(hmm):
    def f(p, q):
        moves, shows = np.array([[p, 1 - p], [q, 1 - q]]), np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])
        model = hmm.MultinomialHMM(A=moves, B=shows, pi=np.array([0.6, 0.4]))
        return model.log_likelihood(np.array([0, 1, 2, 2, 1]))

    return f


@program("fdtd", 1.7, 0.9)
def waves_around_an_object(fdtd):
    def f(permittivity, amplitude):
        fdtd.set_backend("numpy")
        grid = fdtd.Grid(shape=(14, 12, 1), grid_spacing=1e-7)
        grid[0:3, :, :], grid[-3:, :, :] = fdtd.PML(name="low"), fdtd.PML(name="high")
        grid[:, 0, :] = fdtd.PeriodicBoundary(name="sides")
        grid[6:8, 3:6, 0] = fdtd.Object(permittivity=permittivity, name="object")
        grid[4, :, 0] = fdtd.LineSource(period=1e-15, amplitude=amplitude, name="source")
        for _ in range(12):
            grid.step()
        return np.sum(grid.E**2) + np.sum(grid.H[8:10] ** 2)

    return f


@program("skfem", 0.5, 0.7)
def integral_over_a_mesh(skfem):
    def f(a, b):
        mesh = skfem.MeshTri.init_tensor(np.linspace(0, 1, 4) * a, np.linspace(0, 1, 3) * b)
        basis = skfem.Basis(mesh, skfem.ElementTriP1())
        return skfem.Functional(lambda w: w.x[0] * w.x[1]).assemble(basis)

    return f


@program("pylinalg", 0.3, 0.5, 2.0)
def camera(pylinalg):
    def f(x, y, z):
        m = pylinalg.mat_look_at(np.array([x, y, z]), np.zeros(3), np.array([0.0, 1.0, 0.0]))
        return m[0, 3] + m[1, 1] * 2 + np.sum(m[:3, 0] * np.arange(3))

    return f


@program("pylinalg", 0.3, 0.5, 0.2)
def turned_and_moved(pylinalg):
    def f(a, b, c):
        place = pylinalg.mat_compose(
            np.array([c, b, 1.0]), pylinalg.quat_from_euler(np.array([a, b, c])), (1.0, 2.0, 3.0)
        )
        return np.sum(pylinalg.vec_transform(np.array([1.0, 2.0, 3.0]), place) ** 2)

    return f


@program("Geometry3D", 0.3, 0.4, 1.0)
def line_through_a_plane(geometry):
    def f(a, b, c):
        line = geometry.Line(geometry.Point(0, 0, -1), geometry.Vector(a, b, c))
        point = geometry.intersection(line, geometry.xy_plane())
        return point.x**2 + 2 * point.y

    return f


@program("vnoise", 0.35, 0.62)
def noise_of_values(vnoise):
    return lambda x, y: vnoise.Noise(3).noise2(x, y, octaves=3)


@program("meteocalc", 30.0, 60.0)
def how_hot_it_feels(meteocalc):
    def f(temperature, humidity):
        air = meteocalc.Temp(temperature, "c")
        return meteocalc.dew_point(air, humidity).c + meteocalc.heat_index(air, humidity).c

    return f


@program("pyACA", 0.37, 0.2)
def spectrum_of_a_sound(aca):
    def f(pitch, noise):
        spectrum, _, _ = aca.computeSpectrogram(np.sin(TIMES * pitch) + noise * np.cos(TIMES**2), 100, None, 32, 16)
        return np.sum(aca.FeatureSpectralCentroid(spectrum, 100)) + np.sum(aca.FeatureSpectralSkewness(spectrum, 100))

    return f


@program("nodepy.runge_kutta_method", 0.7)
def steps_of_runge_and_kutta(methods):
    from nodepy import ivp

    def f(rate):
        problem = ivp.IVP(f=lambda t, u: -rate * u + np.sin(t), u0=np.array([1.0]), T=1.0)
        return methods.loadRKM("RK44")(problem, dt=0.1)[1][-1][0]

    return f


@program("SALib.analyze.sobol", 7.0)
def sensitivities(sobol):
    def f(a):
        x = np.random.default_rng(1).random((20, 2))
        y, other = np.sin(x[:, 0]) + a * np.sin(x[:, 1]) ** 2, a * x[::-1, 0]
        return sobol.first_order(y, y[::-1] * other, other) + sobol.total_order(y, y[::-1] * other, other)

    return f


@program("pycop", 1.3, 0.3, 0.6)
def copulas(pycop):
    def f(t, u, v):
        kinds = [pycop.archimedean(name) for name in ("clayton", "gumbel", "frank", "joe")]
        return sum([c.get_cdf(u, v, [t]) + c.get_pdf(u, v, [t]) for c in kinds])

    return f


@program("pyrenn", 0.8, 0.3)
def network_of_weights(pyrenn):
    def f(a, b):
        net = pyrenn.CreateNN([2, 3, 1])
        net["w"] = a * np.sin(np.arange(13.0)) + b
        net["IW"], net["LW"], net["b"] = pyrenn.w2Wb(net)
        return np.sum(pyrenn.NNOut(ROWS[:4, :2].T, net) ** 2)

    return f


@program("sewar.full_ref", 20.0, 0.9)
def likeness_of_images(sewar):
    image = DRAWN.random((12, 12)) * 255

    def f(noise, gain):
        other = gain * image + noise * np.sin(np.arange(144.0)).reshape(12, 12)
        return sewar.ssim(image, other, ws=5, MAX=255.0)[0] + sewar.psnr(image, other, MAX=255.0)

    return f


@program("extensisq", 0.7, 0.2)
def damped_oscillation(extensisq):
    from scipy.integrate import solve_ivp

    def f(a, b):
        start, move = np.array([1.0, 0.0]), lambda t, y: np.array([y[1], -a * y[0] - b * y[1]])
        return solve_ivp(move, [0, 2.0], start, method=extensisq.Ts5, rtol=1e-9, atol=1e-9).y[0, -1]

    return f

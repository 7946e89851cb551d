"""Functions of public packages: trusses and soils, ducts and antennas, filters, insurers, stocks, statistics."""

from __future__ import annotations

import numpy as np
from wild.programs import program

TIMES = np.arange(60.0)
NOISE = np.random.RandomState(0).randn(60)


# ---------------------------------------------------------------------------------------------- structures and ground


@program("slientruss3d.truss", 5.0, 120.0)
def displacements_of_a_truss(truss):
    def f(height, area):
        t = truss.Truss(2)
        for place, support in (((0.0, 0.0), 1), ((4.0, height), 0), ((8.0, 0.0), 3)):
            t.AddNewJoint(place, support)
        t.AddExternalForce(1, (10.0, -20.0))
        for i, j in ((0, 1), (1, 2), (0, 2)):
            t.AddNewMember(i, j, truss.MemberType(area, 1e4, 0.1))
        free = np.ix_([2, 3, 4], [2, 3, 4])
        return 1e3 * np.sum(np.linalg.solve(t.GetKMatrix()[free], t.GetExternalForceVector()[[2, 3, 4]])) + t.weight

    return f


@program("trusspy.materials", 0.003, 2e3)
def bar_that_yields(materials):
    def f(strain, hardening):
        state, total = np.zeros(2), 0.0
        for step in np.linspace(0, 1, 6)[1:]:
            s, _, _, state = materials.umat_elplast_iso(strain * step, strain / 5, [2e5, hardening, 250.0], state)
            total = total + s
        return total + 1e3 * state[1]

    return f


@program("liquepy.trigger.boulanger_and_idriss_2014", 1.05, 100.0)
def strength_by_cone_tests(trigger):
    depths = np.linspace(1, 8, 8)
    tip, friction = 4e3 + 800 * np.sin(depths) + 500 * depths, 30 + 5 * depths

    def f(k, pressure):
        found = trigger._calc_dependent_variables(18 * depths, 13 * depths, k * tip, friction, pressure, k * tip, 0.0)
        return sum(np.sum(x) for x in found)

    return f


@program("pyflo.sections", 0.6, 1.5)
def flow_in_a_sewer(sections):
    def f(depth, diameter):
        pipe = sections.Circle(diameter, n=0.013)
        ditch = sections.Trapezoid(3.0, 4.0, 2.0, n=0.03)
        return pipe.flow_area(depth) * pipe.hyd_radius(depth) ** (2 / 3) + ditch.hyd_radius(depth)

    return f


@program("FLife", 3.0, 25.0)
def life_under_vibration(FLife):
    frequency = np.linspace(0.5, 100, 400)

    def f(height, place):
        psd = height * np.exp(-(((frequency - place) / 8) ** 2)) + 0.5 * np.exp(-(((frequency - 70) / 6) ** 2))
        return np.log(FLife.Dirlik(FLife.SpectralData(input=(psd, frequency))).get_life(1.8e12, 7.3))

    return f


# ------------------------------------------------------------------------------------- machines, ducts, flight, control


@program("gas_dynamics.shocks.shocks", 2.5, 12.0)
def shock_at_a_wedge(shocks):
    def f(mach, deflection):
        weak, strong = shocks.shock_angle(mach, deflection)
        return weak + 0.1 * strong + shocks.shock_mach(mach) + shocks.shock_pressure_ratio(mach)

    return f


@program("gas_dynamics.fanno.fanno", 0.3, 0.5)
def friction_in_a_duct(fanno):
    return lambda m, n: fanno.fanno_parameter(m, n) + fanno.mach_from_fanno(fanno.fanno_parameter(m, n) * 0.5, m)


@program("gearpy.units", 3.0, 20.0)
def units_of_gears(units):
    def f(speed, length):
        turned = units.AngularSpeed(speed, "rad/s") * units.Time(2.0, "sec")
        return turned.to("deg").value + units.Length(length, "mm").to("m").value * 100

    return f


@program("motulator.common.utils", 0.3, 5.0)
def space_vectors(utils):
    def f(a, b):
        z = utils.abc2complex([a, b, 1.0])
        return np.sum(np.array(utils.complex2abc(z * np.exp(0.2j))) * np.arange(3)) + utils.wrap(b) + np.abs(z)

    return f


@program("advanced_pid.pid", 4.0, 0.5, 0.3)
def controlled_mass(pid):
    def f(kp, ki, kd):
        controller = pid.PID(kp, ki, kd, 0.05)
        controller.set_output_limits(-50.0, 50.0)
        x, v, t, cost = 0.0, 0.0, 0.0, 0.0
        for _ in range(60):
            v += 0.05 * (controller.integrate(t, 1.0 - x) - 2 * x - 0.5 * v)
            x, t = x + 0.05 * v, t + 0.05
            cost += 0.05 * (1.0 - x) ** 2
        return cost

    return f


@program("tclab.tclab", 60.0, 200.0)
def heater_on_a_desk(tclab):
    def f(level, power):
        lab = tclab.TCLabModel(synced=False)
        lab._P1, lab.tlast = power, 0.0
        lab.Q1(level)
        for t in range(1, 40, 3):
            lab.update(t)
        return lab._T1 + lab._T2

    return f


@program("pykalman", 0.9, 0.3)
def smoothed_states(pykalman):
    seen = np.column_stack([np.sin(np.arange(8.0)), np.cos(np.arange(8.0))])

    def f(decay, noise):
        smoother = pykalman.KalmanFilter(
            transition_matrices=[[decay, 0.1], [0.0, decay]], transition_covariance=noise * np.eye(2), n_dim_obs=2,
            initial_state_mean=[0.1, 0.2],
        )  # fmt: skip
        means, covariances = smoother.smooth(seen)
        return np.sum(means[:4]) + np.sum(covariances)

    return f


@program("pfilter", 0.7, 1.5)
def weights_of_particles(pfilter):
    particles = NOISE.reshape(30, 2)

    def f(place, width):
        weights = pfilter.squared_error(particles, np.array([[place, 0.1]]), sigma=width)
        return np.sum(weights / np.sum(weights) * particles[:, 0])

    return f


# ------------------------------------------------------------------------------------------------- waves and networks


@program("rf_linkbudget.rfmath", -20.0, 15.0)
def chain_of_amplifiers(rfmath):
    of = rfmath.RFMath
    return lambda p, ip3: of.calc_IM3(p, ip3) / 10 + of.convert_T_NF(900.0 + p, 10.0) + of.convert_T_n(300.0 + ip3)


@program("SignalIntegrity.Lib.Devices", 75.0, 0.3)
def line_between_devices(devices):
    def f(impedance, gamma):
        line = np.array(devices.TLineTwoPort(impedance, gamma * 1j + 0.01, 50.0))
        return np.sum(np.abs(line @ np.array(devices.SeriesZ(impedance, 50.0))) ** 2)

    return f


@program("eseries.eseries", 4.7e3)
def tolerances(eseries):
    return lambda r: sum(eseries.tolerance_limits(eseries.ESeries.E24, r)) / 1e3 * r


@program("spafe.features.mfcc", 1.3, 0.3)
def cepstrum(mfcc):
    t = np.arange(2000) / 8000.0

    def f(a, b):
        signal = a * np.sin(2 * np.pi * 440 * t) + b * np.sin(2 * np.pi * 1330 * t) + 0.01 * np.cos(7000 * t)
        return np.sum(mfcc.mfcc(signal, fs=8000, num_ceps=8, nfilts=16, nfft=256))

    return f


@program("adaptfilt", 1.3, 0.4)
def adaptive_filters(adaptfilt):
    def f(a, b):
        wanted = np.convolve(NOISE, np.array([a, b, 0.1]))
        _, e, w = adaptfilt.nlms(NOISE, wanted, 3, 0.5, returnCoeffs=True)
        _, e2, w2 = adaptfilt.lms(NOISE, wanted, 3, 0.05, returnCoeffs=True)
        return np.sum(e**2) + np.sum(w[-1]) + np.sum(w2[-1]) + np.sum(e2)

    return f


@program("pylops", 1.3, 0.5)
def operators_on_signals(pylops):
    def f(a, b):
        x = np.sin(a * np.arange(20.0)) * b
        smoothing = pylops.Smoothing1D(3, 20)
        return np.sum((pylops.SecondDerivative(20, sampling=0.5) @ x) ** 2) + np.sum(smoothing.matvec(x) * TIMES[:20])

    return f


@program("mcfit", 1.3)
def logarithmic_transform(mcfit):
    r = np.logspace(-3, 3, 64)
    return lambda a: np.sum(mcfit.Hankel(r, nu=0, lowring=True)(1 / (a + r**2) ** 1.5, extrap=True)[1][20:40])


@program("hankel", 1.3, 0.8)
def transform_by_quadrature(hankel):
    return lambda a, k: hankel.HankelTransform(nu=0, N=60, h=0.03).transform(
        lambda r: np.exp(-a * r**2), k, ret_err=False
    )


# ----------------------------------------------------------------------------------- money, stocks, decisions, learning


@program("smithwilson", 0.02, 0.15)
def extrapolated_rates(smithwilson):
    known, asked = np.array([[1.0], [2.0], [5.0], [10.0]]), np.array([[3.0], [7.0], [20.0], [40.0]])

    def f(rate, alpha):
        rates = np.array([[rate], [rate + 0.004], [rate + 0.01], [rate * 1.8]])
        return 100 * np.sum(
            smithwilson.fit_smithwilson_rates(rates_obs=rates, t_obs=known, t_target=asked, ufr=0.03, alpha=alpha)
        )

    return f


@program("stockpyl.newsvendor", 0.18, 8.0)
def stock_of_a_newsvendor(newsvendor):
    def f(holding, deviation):
        level, cost = newsvendor.newsvendor_normal(holding, 0.70, 50.0, deviation)
        return level + 2 * cost + newsvendor.newsvendor_normal_cost(55.0, holding, 0.7, 50.0, deviation)

    return f


@program("stockpyl.rq", 126.0, 60.0)
def when_to_order(rq):
    def f(point, fixed):
        r, q, *_ = rq.r_q_eil_approximation(0.225, 7.5, fixed, 1300.0, 150.0, 1 / 12)
        return rq.r_q_cost(point, 318.0, 0.225, 7.5, fixed, 1300.0, 150.0, 1 / 12) + r + q

    return f


@program("mdptoolbox.mdp", 0.9, 4.0)
def when_to_cut_a_forest(mdp):
    def f(discount, reward):  # by waiting or cutting, each year, a tree that may burn
        wait, cut = np.array([[0.1, 0.9, 0.0], [0.1, 0.0, 0.9], [0.1, 0.0, 0.9]]), np.eye(3)[[0, 0, 0]]
        rewards = np.array([[0.0, 0.0], [0.0, 1.0], [reward, 2.0]])
        solver = mdp.ValueIteration(np.array([wait, cut]), rewards, discount, epsilon=1e-9)
        solver.run()
        return sum(solver.V)

    return f


@program("copulas.bivariate.clayton", 1.7, 0.4)
def joint_risks(clayton):
    places = np.column_stack([np.linspace(0.1, 0.9, 7), np.linspace(0.3, 0.8, 7) ** 2])

    def f(theta, p):
        copula = clayton.Clayton()
        copula.theta, copula.tau = theta, 0.3
        x = places * np.array([1.0, p])
        return np.sum(copula.probability_density(x)) + np.sum(copula.cumulative_distribution(x))

    return f


@program("pyitlib.discrete_random_variable", 0.3, 0.2)
def information(drv):
    def f(a, b):
        p = np.array([a, b, 1 - a - b])
        return drv.entropy_pmf(p) + 2 * drv.divergence_kullbackleibler_pmf(p, np.array([0.2, 0.5, 0.3]))

    return f


@program("ordpy", 0.2, 0.3)
def disorder_and_complexity(ordpy):
    def f(a, b):
        entropy, complexity = ordpy.complexity_entropy(np.array([a, b, 0.1, 0.2, 0.1, 0.6 - a - b]), probs=True, dx=3)
        return entropy + 2 * complexity

    return f


@program("pykrige", 1.5, 0.8)
def kriging(pykrige):
    x, y = np.array([0.3, 1.9, 1.1, 3.3, 4.7]), np.array([1.2, 0.6, 3.2, 4.4, 3.8])

    def f(z, sill):
        field = pykrige.OrdinaryKriging(
            x, y, np.array([0.5, z, 0.4, 0.3, z * 0.9]), variogram_model="exponential",
            variogram_parameters=[sill, 2.0, 0.05],
        )  # fmt: skip
        found = field.execute("points", np.array([1.0, 2.0]), np.array([2.0, 3.0]), backend="vectorized")
        return sum(np.sum(part) for part in found)

    return f


@program("uqtestfuns", 0.1, 0.4)
def functions_for_tests(uqtestfuns):
    borehole, ishigami = uqtestfuns.Borehole(), uqtestfuns.Ishigami()

    def f(radius, x):
        rest = [25050.0, 89335.0, 1050.0, 89.55, 760.0, 1400.0, 10950.0]
        return borehole(np.array([[radius, *rest]]))[0] + ishigami(np.array([[x, 2 * x, radius]]))[0]

    return f


@program("pymoo.problems.single", 0.3, 0.6)
def problems_of_one_objective(single):
    problems = [kind(n_var=3) for kind in (single.Rosenbrock, single.Rastrigin, single.Zakharov)]
    return lambda x, y: sum(np.sum(p.evaluate(np.array([[x, y, 0.2]]))) for p in problems)


@program("micrograd.engine", -4.0, 2.0)
def graph_of_scalars(engine):
    def f(x, y):
        a, b = engine.Value(x), engine.Value(y)
        c, d = a + b, a * b + b**3
        c += c + 1
        d += d * 2 + (b + a).relu()
        e = (c - d) ** 2 / 2.0
        e += 10.0 / e
        e.backward()
        return e.data + a.grad + 2 * b.grad

    return f


@program("baryrat", 1.3, 0.4)
def rational_interpolant(baryrat):
    nodes = np.linspace(0, 2, 7)
    return lambda a, x: baryrat.floater_hormann(nodes, np.exp(-a * nodes), 3)(x + 0.01)


@program("differint.differint", 0.5, 1.3)
def half_a_derivative(differint):
    def f(alpha, a):
        decay = lambda t: np.exp(-a * t)
        return differint.RLpoint(alpha, decay, 0.0, 1.0, 40) + np.sum(differint.GL(alpha, decay, 0.0, 1.0, 20))

    return f


@program("numericalunits", 2.0, 3.0)
def units_as_numbers(nu):
    return lambda current, t: nu.mu0 * current * nu.A / (0.6 * np.pi * nu.m) / nu.T * 1e6 + nu.kB * t * nu.K / nu.meV


@program("fuzzylogic.functions", 2.4, 0.7)
def membership(functions):
    def f(x, k):
        return functions.sigmoid(1.0, k, 2.0)(x) + functions.gauss(2.0, k)(x) + functions.R(1.0, 4.0)(x)

    return f


@program("blend_modes", 0.6, 120.0)
def layers_of_a_picture(blend_modes):
    below, above = np.random.RandomState(0).rand(2, 4, 5, 4) * 255

    def f(opacity, red):
        picture = below.copy()
        picture[:, :, 0] = red
        modes = (blend_modes.soft_light, blend_modes.screen, blend_modes.hard_light)
        return sum(np.mean(mode(picture, above, opacity, disable_type_checks=True)) for mode in modes)

    return f


@program("supersmoother", 1.3)
def smooth_curve(supersmoother):
    t = np.linspace(0, 6, 40)

    def f(a):
        model = supersmoother.LinearSmoother(0.2)
        model.fit(t, np.sin(a * t) + 0.1 * np.cos(13 * t), 0.1)
        return np.sum(model.predict(np.linspace(0.5, 5, 7)))

    return f


@program("lapy", 1.3, 0.8)
def closed_surface(lapy):
    corners = np.array([[0, 0, 0], [1.0, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1.0]])
    faces = np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4], [0, 2, 1], [0, 3, 2]])

    def f(a, b):
        mesh = lapy.TriaMesh(corners * np.array([a, b, 1.0]), faces)
        return mesh.area() + mesh.volume() + np.sum(mesh.tria_qualities())

    return f


@program("statsmodels.tsa.api", 0.5, 0.3)
def autocorrelations(tsa):
    def f(a, b):
        y = np.zeros(60)
        for k in range(2, 60):
            y[k] = a * y[k - 1] + b * y[k - 2] + NOISE[k]
        return np.sum(tsa.acf(y, nlags=5)) + np.sum(tsa.pacf(y, nlags=4, method="ywm"))

    return f

"""More functions of public packages: light and power, orbits and lenses, robots and meshes, money and water."""

from __future__ import annotations

import numpy as np
from wild.programs import program


@program("pvlib", 30.0, 180.0, 40.0, 170.0)
def diffuse_light_by_perez(_):
    from pvlib import irradiance

    return lambda t, a, z, az: irradiance.perez(t, a, 120.0, 600.0, 1367.0, z, az, 1.5)


@program("pvlib", 30.0, 180.0, 40.0)
def diffuse_light_by_hay_and_davies(_):
    from pvlib import irradiance

    return lambda t, a, z: irradiance.haydavies(t, a, 120.0, 600.0, 1367.0, z, 170.0)


@program("pvlib", 30.0, 500.0, 40.0)
def light_on_a_panel(_):
    from pvlib import irradiance

    return lambda t, dni, z: irradiance.get_total_irradiance(t, 180.0, z, 170.0, dni, 600.0, 120.0)["poa_global"]


@program("pvlib", 7.0, -14.3, 0.1, 20.0, 0.5)
def power_of_a_panel(_):
    from pvlib import pvsystem

    return lambda IL, logI0, Rs, Rsh, n: pvsystem.max_power_point(IL, np.exp(logI0), Rs, Rsh, n)["p_mp"]


@program("pvlib", 7.0, -14.3, 0.1, 20.0, 0.5)
def voltage_of_a_panel(_):
    from pvlib import pvsystem

    return lambda IL, logI0, Rs, Rsh, n: pvsystem.v_from_i(5.0, IL, np.exp(logI0), Rs, Rsh, n)


@program("pvlib", 7.0, -14.3, 0.1, 20.0, 0.5)
def current_of_a_panel(_):
    from pvlib import pvsystem

    return lambda IL, logI0, Rs, Rsh, n: pvsystem.i_from_v(5.0, IL, np.exp(logI0), Rs, Rsh, n, method="newton")


@program("pvlib", 60.0, 1013e2)
def air_mass(_):
    from pvlib import atmosphere

    return lambda z, P: atmosphere.get_absolute_airmass(atmosphere.get_relative_airmass(z, "kastenyoung1989"), P)


@program("pvlib", 60.0, 3.0, 1.5)
def clear_sky(_):
    from pvlib import clearsky

    return lambda z, tl, am: clearsky.ineichen(z, am, tl)["ghi"]


@program("pvlib", 800.0, 25.0, 2.0)
def temperature_of_a_cell(_):
    from pvlib import temperature

    return lambda G, T, w: temperature.faiman(G, T, w) + temperature.sapm_cell(G, T, w, -3.5, -0.06, 3)


@program("pvlib", 800.0, 45.0)
def parameters_of_a_panel(_):
    from pvlib import pvsystem

    def f(G, T):
        il, i0, rs, rsh, n = pvsystem.calcparams_desoto(G, T, 0.003, 1.5, 6.0, 5e-10, 300.0, 0.3)
        return il + 1e9 * i0 + rs + rsh + n

    return f


@program("skrf", 20.0, 50.0)
def line_and_capacitor(_):
    import skrf

    def f(a, b):
        fr = skrf.Frequency(1, 2, 3, "ghz")
        from skrf.media import DefinedGammaZ0

        m = DefinedGammaZ0(fr, z0=50)
        n = m.line(a, "deg") ** m.shunt_capacitor(b * 1e-12)
        return np.abs(n.s[1, 0, 0]) ** 2

    return f


@program("HydroErr", 0.3, 0.7)
def errors_of_a_hydrograph(_):
    import HydroErr as he

    obs = np.array([1.0, 2, 4, 3, 5, 2])

    def f(a, b):
        sim = a * obs**1.1 + b
        return he.kge_2009(sim, obs) + he.nse(sim, obs) + he.rmse(sim, obs)

    return f


@program("empyrical", 0.01, 0.02)
def sharpe_and_sortino(_):
    import empyrical

    r = np.random.default_rng(0).normal(size=50)
    return lambda m, s: (
        empyrical.sharpe_ratio(m + s * r) + empyrical.sortino_ratio(m + s * r) + empyrical.max_drawdown(m + s * r)
    )


@program("py_vollib", 100.0, 105.0, 0.5, 0.02, 0.3)
def greeks_of_options(_):
    from py_vollib.black_scholes.greeks.analytical import delta, vega

    return lambda S, K, t, r, v: delta("p", S, K, t, r, v) + vega("c", S, K, t, r, v)


@program("windpowerlib", 8.0, 0.15)
def wind_profile(_):
    from windpowerlib import wind_speed

    return lambda v, z0: wind_speed.logarithmic_profile(v, 10.0, 100.0, z0)


@program("prysm", 0.3, 0.1)
def zernike_polynomials(_):
    from prysm.polynomials import zernike_nm

    r, t = np.meshgrid(np.linspace(0.1, 1, 5), np.linspace(0, 3, 6))
    return lambda a, b: np.sum((a * zernike_nm(3, 1, r * a, t + b) + b * zernike_nm(4, 0, r * b, t)) ** 2)


@program("PyAstronomy", 0.3, 1.2)
def kepler_by_markley(_):
    from PyAstronomy import pyasl

    def f(e, M):
        ks = pyasl.MarkleyKESolver()
        return ks.getE(M, e)

    return f


@program("PyAstronomy", 0.3, 1.2, 0.5)
def ellipse_of_kepler(_):
    from PyAstronomy import pyasl

    def f(e, a, i):
        ke = pyasl.KeplerEllipse(a, 2.0, e=e, Omega=10.0, i=i * 50, w=20.0)
        return np.sum(ke.xyzPos(np.linspace(0.1, 1, 5)) ** 2 * np.arange(3.0))

    return f


@program("nashpy", 0.1, 0.2)
def payoff_of_a_game(_):
    import nashpy

    def f(a, b):
        A = np.array([[a, 2.0], [3.0, b]])
        g = nashpy.Game(A, -A)
        return np.sum(g[np.array([0.4, 0.6]), np.array([0.3, 0.7])])

    return f


@program("skaero", 2.0, 1.4)
def isentropic_flow(_):
    from skaero.gasdynamics import isentropic

    def f(M, g):
        fl = isentropic.IsentropicFlow(gamma=g)
        return fl.p_p0(M) + fl.T_T0(M) + fl.A_Astar(M)

    return f


@program("pyet", 25.0, 15.0, 20.0)
def vapour_pressure(_):
    import pyet

    return lambda tmax, tmin, rs: pyet.meteo_utils.calc_vpc(0.5 * (tmax + tmin)) + pyet.calc_e0(tmax) * rs


@program("emcee", 0.3, 1.5)
def autocorrelation(_):
    from emcee.autocorr import function_1d

    x = np.random.default_rng(0).normal(size=16)
    return lambda a, b: np.sum(function_1d(a * x + np.abs(x) ** b)[:5])


@program("lenstronomy", 1.0, 2.0, 0.3)
def isothermal_lens(_):
    from lenstronomy.LensModel.Profiles.sie import SIE

    s = SIE()
    return lambda t, x, e: np.sum(s.derivatives(np.array([x, 1.5]), np.array([0.4, 0.9]), t, e, 0.1))


@program("lenstronomy", 1.0, 2.0, 0.3)
def dark_matter_lens(_):
    from lenstronomy.LensModel.Profiles.nfw import NFW

    s = NFW()
    return lambda rs, al, x: np.sum(s.function(np.array([x, 1.5]), np.array([0.4, 0.9]), rs, al))


@program("lenstronomy", 1.0, 2.0, 1.3)
def light_of_a_galaxy(_):
    from lenstronomy.LightModel.Profiles.sersic import Sersic

    s = Sersic()
    return lambda a, r, n: np.sum(s.function(np.array([0.3, 1.5]), np.array([0.4, 0.9]), a, r, n))


@program("spatialmath", 0.1, 0.2, 0.3)
def roll_pitch_yaw(_):
    from spatialmath import base

    return lambda a, b, c: (
        np.sum(base.rpy2r(a, b, c) * np.arange(9.0).reshape(3, 3)) + np.sum(base.trotx(a) @ base.troty(b))
    )


@program("spatialmath", 0.1, 0.2, 0.3)
def exponential_of_a_twist(_):
    from spatialmath import base

    return lambda a, b, c: np.sum(base.trexp(np.array([0.1, 0.2, 0.3, a, b, c])) * np.arange(16.0).reshape(4, 4))


@program("spatialmath", 0.1, 0.2, 0.3)
def motions_as_objects(_):
    from spatialmath import SE3

    return lambda a, b, c: np.sum((SE3.Rx(a) * SE3.Ry(b) * SE3.Tx(c)).A * np.arange(16.0).reshape(4, 4))


@program("roboticstoolbox", 0.1, 0.2, 0.3)
def arm_of_a_puma(_):
    import roboticstoolbox as rtb

    robot = rtb.models.DH.Puma560()
    return lambda a, b, c: np.sum(robot.fkine(np.array([a, b, c, 0.1, 0.2, 0.3])).A * np.arange(16.0).reshape(4, 4))


@program("ikpy", 0.1, 0.2)
def chain_of_links(_):
    from ikpy.chain import Chain
    from ikpy.link import OriginLink, URDFLink

    ch = Chain(
        name="x",
        links=[
            OriginLink(),
            URDFLink("a", [0, 0, 1.0], [0, 0, 0.0], rotation=[0, 1, 0]),
            URDFLink("b", [0, 0, 1.0], [0, 0, 0.0], rotation=[0, 1, 0]),
        ],
    )
    return lambda a, b: np.sum(ch.forward_kinematics([0, a, b]) * np.arange(16.0).reshape(4, 4))


@program("trimesh", 0.3, 0.4)
def rotation_about_an_axis(_):
    from trimesh import transformations as tf

    return lambda a, b: (
        np.sum(tf.rotation_matrix(a, [b, 1.0, 0.5]) * np.arange(16.0).reshape(4, 4))
        + np.sum(tf.quaternion_from_euler(a, b, 0.2))
    )


@program("trimesh", 0.3, 0.4)
def volume_of_a_mesh(_):
    import trimesh

    F = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]])

    def f(a, b):
        V = np.array([[0.0, 0, 0], [1.0, a, 0], [0, 1.0, b], [a, b, 1.0]])
        return trimesh.triangles.mass_properties(V[F])["volume"] + np.sum(trimesh.triangles.area(V[F]))

    return f


@program("skfuzzy", 1.3, 2.4)
def membership(_):
    import skfuzzy as fz

    x = np.linspace(0, 5, 20)
    return lambda m, s: np.sum(fz.gaussmf(x, m, s) * fz.gbellmf(x, s, m, 1.0)) + np.sum(fz.sigmf(x, m, s))


@program("skfuzzy", 1.3, 2.4)
def centroid_of_membership(_):
    import skfuzzy as fz

    x = np.linspace(0, 5, 20)
    return lambda m, s: fz.defuzz(x, fz.gaussmf(x, m, s), "centroid")


@program("cma", 2.0, 3.0)
def functions_to_try_optimisers_on(_):
    from cma import fitness_functions as ff

    F = ff.FitnessFunctions()
    return lambda a, b: (
        F.rastrigin(np.array([a, b, 0.5])) + F.elli(np.array([a, b, 0.5])) + F.rosen(np.array([a, b, 0.3]))
    )


@program("lifelines", 1.0, 0.5)
def hazard_of_weibull(_):
    from lifelines.fitters.weibull_fitter import WeibullFitter

    w = WeibullFitter()
    return lambda l, r: np.sum(w._cumulative_hazard(np.array([l, r]), np.array([0.5, 1.0, 2.0])))


@program("hydroeval", 1.2, 0.3)
def kling_gupta(_):
    import hydroeval as he

    o = np.array([1.0, 2, 4, 3, 5, 2])
    return lambda a, b: np.sum(he.evaluator(he.kge, a * o**1.1 + b, o))


@program("pymanopt", 0.2, 0.3)
def distance_on_a_sphere(_):
    from pymanopt.manifolds import Sphere

    m = Sphere(3)

    def f(a, b):
        x = np.array([1.0, 0, 0])
        u = m.to_tangent_space(x, np.array([0.0, a, b]))
        y = m.exp(x, u)
        return m.dist(x, y) + np.sum(y * np.arange(3.0))

    return f

"""Functions of public packages that know nothing of us, each with a point: plain numbers in, one number out.

They are called as their users call them. A package that is not installed is skipped: `make test-wild` installs all of
them (the extra `wild`).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np


class Program(NamedTuple):
    name: str
    package: str
    build: Callable[[Any], Callable]
    """The function, given the package."""
    point: tuple[float, ...]

    def function(self) -> Callable:
        return self.build(import_module(self.package))


PROGRAMS: list[Program] = []

REFUSED_COMPILED = {
    "peng_robinson_volume": "a list is longer in one branch than in the other",
    "soave_fugacity": "a list is longer in one branch than in the other",
    "catmull_rom": "a list is read at a place known only when the program runs",
    "field_of_a_cuboid": "a mask for a view of an array whose length is known only when the program runs",
    "field_of_a_loop": "a comprehension over a number of items known only when the program runs",
    "life_of_a_part": "texts are made of numbers, and looked at",
    "mineral": "a loop in which something may be raised, in a try",
    "power_flow": "places in a sparse matrix are numbers of a table that is written to",
    "utm_easting": "a list of texts is read at a place known only when the program runs",
}
"""What `jit` refuses, and why: the list only gets shorter."""

REFUSED: dict[str, str] = {}
"""What is refused eagerly too."""

LONG = {
    "rachford_rice": "the gradient of a solver inside of a try statement takes a minute to build",
}


def program(package: str, *point: float) -> Callable:
    def add(build: Callable) -> Callable:
        # (pytest may import a module under two names)
        if (build.__name__, package) not in [(p.name, p.package) for p in PROGRAMS]:
            PROGRAMS.append(Program(build.__name__, package, build, point))
        return build

    return add


# ------------------------------------------------------------------------------------------------ flow of fluids, heat


@program("fluids", 1e5, 1e-4)
def friction_factor(fluids):
    return lambda Re, eD: fluids.friction_factor(Re=Re, eD=eD)


@program("fluids", 200.0)
def drag_of_a_sphere(fluids):
    return lambda Re: fluids.drag.drag_sphere(Re)


@program("fluids", 8e-4, 0.4, 1e-3)
def ergun(fluids):
    return lambda dp, voidage, vs: fluids.packed_bed.Ergun(dp=dp, voidage=voidage, vs=vs, rho=1e3, mu=1e-3)


@program("fluids", 0.00185, 1e6, 9e5)
def isothermal_gas(fluids):
    return lambda fd, P1, P2: fluids.compressible.isothermal_gas(rho=11.3, fd=fd, P1=P1, P2=P2, L=1000.0, D=0.5)


@program("fluids", 0.6, 0.1, 915.0)
def friedel(fluids):
    return lambda m, x, rhol: fluids.two_phase.Friedel(
        m=m, x=x, rhol=rhol, rhog=2.67, mul=180e-6, mug=14e-6, sigma=0.0487, D=0.05, L=1.0
    )


@program("fluids", 0.32, 10.0, 0.02)
def conical_diffuser(fluids):
    return lambda Di1, angle, fd: fluids.fittings.diffuser_conical(Di1=Di1, Di2=1.0, angle=angle, fd=fd)


@program("fluids", 5000.0)
def standard_atmosphere(fluids):
    return lambda Z: fluids.atmosphere.ATMOSPHERE_1976(Z).rho


@program("ht", 100.0, 60.0, 30.0, 40.2)
def mean_temperature_difference(ht):
    return lambda a, b, c, d: ht.LMTD(a, b, c, d)


@program("ht", 6071.0, 0.7)
def churchill_bernstein(ht):
    return lambda Re, Pr: ht.Nu_cylinder_Churchill_Bernstein(Re, Pr)


@program("ht", 3.2, 0.6)
def effectiveness(ht):
    return lambda NTU, Cr: ht.effectiveness_from_NTU(NTU, Cr)


@program("ht", 800.0, 4e-6)
def black_body(ht):
    return lambda T, wavelength: ht.radiation.blackbody_spectral_radiance(T, wavelength)


@program("ht", 1e5, 1.2, 0.0185)
def gnielinski(ht):
    return lambda Re, Pr, fd: ht.conv_internal.turbulent_Gnielinski(Re=Re, Pr=Pr, fd=fd)


# ----------------------------------------------------------------------------------------------------------- chemistry


@program("chemicals", 100.0, 8.7687, 395.744)
def antoine(chemicals):
    return lambda T, A, B: chemicals.Antoine(T, A, B, -6.469)


@program("chemicals", 100.0, 4596420.0)
def wagner(chemicals):
    return lambda T, Pc: chemicals.Wagner_original(T, 190.53, Pc, -6.00435, 1.1885, -0.834082, -1.22833)


@program("chemicals", 272.03889, 369.83, 4248000.0)
def rackett(chemicals):
    return lambda T, Tc, Pc: chemicals.Rackett(T, Tc, Pc, 0.2763)


@program("chemicals", 1.685, 0.742, 0.532)
def rachford_rice(chemicals):
    return lambda a, b, c: chemicals.Rachford_Rice_solution(zs=[0.5, 0.3, 0.2], Ks=[a, b, c])[0]


@program("chemicals", 500.0, 2.0)
def pressure_of_steam(chemicals):
    return lambda T, rho: chemicals.iapws95_P(T, rho)


@program("chemicals", 510.0, 425.2, 38e5, 0.193)
def pitzer_curl(chemicals):
    return lambda T, Tc, Pc, omega: chemicals.BVirial_Pitzer_Curl(T, Tc, Pc, omega)


@program("chemicals", 300.0, 0.17766)
def dippr_106(chemicals):
    return lambda T, A: chemicals.EQ106(T, 647.096, A, 2.567, -3.3377, 1.9699, 0.25)


@program("thermo", 299.0, 1e6)
def peng_robinson_volume(thermo):
    return lambda T, P: thermo.PR(Tc=507.6, Pc=3025000.0, omega=0.2975, T=T, P=P).V_l


@program("thermo", 299.0, 1e6, 0.2975)
def soave_fugacity(thermo):
    return lambda T, P, omega: thermo.SRK(Tc=507.6, Pc=3025000.0, omega=omega, T=T, P=P).fugacity_l


@program("iapws.iapws97", 300.0, 3.0)
def enthalpy_of_water(iapws97):
    return lambda T, P: iapws97._Region1(T, P)["h"]


@program("iapws.iapws97", 500.0)
def saturation_pressure(iapws97):
    return lambda T: iapws97._PSat_T(T)


@program("iapws._iapws", 998.0, 298.15)
def viscosity_of_water(iapws):
    return lambda rho, T: iapws._Viscosity(rho, T)


@program("seawater", 35.0, 10.0, 1000.0)
def density_of_seawater(seawater):
    return lambda s, t, p: seawater.dens(s, t, p)


@program("seawater", 35.0, 10.0, 1000.0)
def sound_in_seawater(seawater):
    return lambda s, t, p: seawater.svel(s, t, p)


@program("seawater", 35.0, 10.0, 1000.0)
def potential_temperature(seawater):
    return lambda s, t, p: seawater.ptmp(s, t, p)


# ------------------------------------------------------------------------------------------------ earth, sky, rotations


@program("pymap3d", 42.0, -82.0, 200.0)
def geodetic_to_ecef(pymap3d):
    return lambda lat, lon, alt: sum(pymap3d.geodetic2ecef(lat, lon, alt))


@program("pymap3d", 660675.0, -4700949.0, 4245738.0)
def ecef_to_geodetic(pymap3d):
    return lambda x, y, z: pymap3d.ecef2geodetic(x, y, z)[0]


@program("pymap3d", 42.1, -81.9, 1000.0)
def geodetic_to_enu(pymap3d):
    return lambda lat, lon, alt: pymap3d.geodetic2enu(lat, lon, alt, 42.0, -82.0, 200.0)[1]


@program("pymap3d.vincenty", 42.0, -82.0)
def vincenty_distance(vincenty):
    return lambda lat, lon: vincenty.vdist(lat, lon, 43.0, -81.0)[0]


@program("geographiclib.geodesic", -41.32, 174.81)
def geodesic_inverse(geodesic):
    return lambda lat, lon: geodesic.Geodesic.WGS84.Inverse(lat, lon, 40.96, -5.50)["s12"]


@program("geographiclib.geodesic", 40.0, 30.0, 1e5)
def geodesic_direct(geodesic):
    return lambda lat, azimuth, s12: geodesic.Geodesic.WGS84.Direct(lat, -5.0, azimuth, s12)["lat2"]


@program("haversine", 45.7597, 4.8422)
def haversine_distance(haversine):
    return lambda lat, lon: haversine.haversine((lat, lon), (48.8567, 2.3508))


@program("transforms3d.euler", 0.1, 0.2, 0.3)
def euler_matrix(euler):
    return lambda a, b, c: euler.euler2mat(a, b, c)[0, 2]


@program("transforms3d.quaternions", 0.5, 0.4, 0.3, 0.2)
def quaternion_matrix(quaternions):
    return lambda w, x, y, z: quaternions.quat2mat([w, x, y, z])[1, 0]


@program("transforms3d.axangles", 1.0, 2.0, 0.5)
def axis_and_angle(axangles):
    return lambda x, y, angle: axangles.axangle2mat([x, y, 3.0], angle)[2, 1]


@program("transforms3d.euler", 0.1, 0.2, 0.3)
def euler_quaternion(euler):
    return lambda a, b, c: euler.euler2quat(a, b, c)[3]


@program("pyquaternion", 0.3)
def rotation_by_a_quaternion(pyquaternion):
    return lambda angle: pyquaternion.Quaternion(axis=[1.0, 0.0, 0.0], angle=angle).rotate([1.0, 2.0, 3.0])[1]


@program("pyquaternion", 1.0, 2.0, 3.0, 4.0)
def product_of_quaternions(pyquaternion):
    Q = pyquaternion.Quaternion
    return lambda w, x, y, z: (Q(w, x, y, z) * Q(0.5, 0.1, 0.2, 0.3)).norm


@program("ahrs.common.orientation", 0.3, 0.2, 0.1)
def orientation(orientation_module):
    return lambda r, p, y: orientation_module.rpy2q(np.array([r, p, y]))[1]


@program("ahrs.utils", 45.0)
def gravity(utils):
    return lambda lat: utils.WGS().normal_gravity(lat)


# ------------------------------------------------------------------------------------------------- money, signals, fits


@program("numpy_financial", 0.1, 30.0, 40.0)
def net_present_value(npf):
    return lambda rate, a, b: npf.npv(rate, [-100.0, a, b, 50.0])


@program("numpy_financial", 0.008, 1000.0)
def payment(npf):
    return lambda rate, pv: npf.pmt(rate, 12, pv)


@program("numpy_financial", 0.004, -100.0)
def future_value(npf):
    return lambda rate, pmt: npf.fv(rate, 120, pmt, -100.0)


@program("numpy_financial", 0.004, -100.0)
def present_value(npf):
    return lambda rate, pmt: npf.pv(rate, 120, pmt, 0.0)


@program("lmfit.lineshapes", 0.3, 1.0, 0.1, 0.5)
def gaussian(lineshapes):
    return lambda x, amplitude, center, sigma: lineshapes.gaussian(x, amplitude, center, sigma)


@program("lmfit.lineshapes", 0.3, 0.5, 0.4)
def voigt(lineshapes):
    return lambda x, sigma, gamma: lineshapes.voigt(x, 1.0, 0.0, sigma, gamma)


@program("lmfit.lineshapes", 0.3, 0.5, 0.3)
def skewed_gaussian(lineshapes):
    return lambda x, sigma, gamma: lineshapes.skewed_gaussian(x, 1.0, 0.0, sigma, gamma)


@program("lmfit.lineshapes", 0.3, 0.5, 1.2)
def exponential_gaussian(lineshapes):
    return lambda x, sigma, gamma: lineshapes.expgaussian(x, 1.0, 0.0, sigma, gamma)


@program("lmfit.lineshapes", 0.3, 0.5, 0.7)
def pearson(lineshapes):
    return lambda x, sigma, expon: lineshapes.pearson7(x, 1.0, 0.0, sigma, expon)


@program("simple_pid", 1.0, 0.1, 0.05)
def pid_controller(simple_pid):
    def final(Kp, Ki, Kd):
        pid, y = simple_pid.PID(Kp, Ki, Kd, setpoint=1.0, sample_time=None), 0.0
        for _ in range(10):
            y = y + 0.1 * (pid(y, dt=0.1) - y)
        return y

    return final


@program("filterpy.kalman", 0.5, 0.1)
def kalman_filter(kalman):
    def final(q, r):
        f = kalman.KalmanFilter(dim_x=2, dim_z=1)
        f.x = np.array([[0.0], [1.0]])
        f.F = np.array([[1.0, 0.1], [0.0, 1.0]])
        f.H = np.array([[1.0, 0.0]])
        f.Q = q * np.eye(2)
        f.R = r * np.eye(1)
        for z in (0.1, 0.25, 0.33, 0.38):
            f.predict()
            f.update(z)
        return f.x[0, 0] + f.P[1, 1]

    return final


@program("geomdl.BSpline", 1.0, 2.0)
def spline_curve(bspline):
    def height(x, y):
        curve = bspline.Curve()
        curve.degree = 2
        curve.ctrlpts = [[0.0, 0.0], [x, y], [3.0, 1.0], [4.0, 4.0]]
        curve.knotvector = [0, 0, 0, 0.5, 1, 1, 1]
        return curve.evaluate_single(0.3)[1]

    return height


@program("splines", 1.3, 2.0)
def catmull_rom(splines):
    return lambda t, y: splines.CatmullRom([(0.0, 0.0), (1.0, y), (3.0, 1.0), (4.0, 4.0)]).evaluate(t)[1]


# ------------------------------------------------------------------------------------------------------------- colours


@program("colour", 0.2, 0.12, 0.05)
def xyz_to_lab(colour):
    return lambda x, y, z: colour.XYZ_to_Lab([x, y, z])[1]


@program("colour", 0.3)
def decoding_srgb(colour):
    return lambda v: colour.models.eotf_sRGB(v)


@program("colour", 0.2, 0.12, 0.05)
def xyz_to_srgb(colour):
    return lambda x, y, z: colour.XYZ_to_sRGB(np.array([x, y, z]))[0]


@program("colour", 50.0, 2.0, -79.0)
def difference_of_colours(colour):
    return lambda L, a, b: colour.difference.delta_E_CIE2000([L, a, b], [50.0, 0.0, -82.0])


@program("colormath.color_conversions", 0.2, 0.3, 0.4)
def lightness(conversions):
    objects = import_module("colormath.color_objects")
    return lambda r, g, b: conversions.convert_color(objects.sRGBColor(r, g, b), objects.LabColor).lab_l

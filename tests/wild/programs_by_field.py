"""More functions of public packages: robots, the sky, money, air and water, light and sound."""

from __future__ import annotations

import datetime
from importlib import import_module

import numpy as np
from wild.programs import program

# -------------------------------------------------------------------------------------------------------------- robots


@program("transforms3d.euler", 0.3, -0.5, 0.8)
def euler_to_matrix(euler):
    return lambda a, b, c: (euler.euler2mat(a, b, c, "sxyz") @ np.array([1.0, 2.0, 3.0]))[1]


@program("transforms3d.euler", 0.3, -0.5, 0.8)
def quaternion_of_a_matrix(euler):
    quaternions = import_module("transforms3d.quaternions")
    return lambda a, b, c: quaternions.mat2quat(euler.euler2mat(a, b, c))[2]


@program("transforms3d.axangles", 0.3, 1.5)
def turned_about_an_axis(axangles):
    return lambda angle, z: axangles.axangle2mat([1.0, 2.0, z], angle)[0, 1]


@program("transforms3d.affines", 0.3, 1.5, 0.7)
def shears_and_zooms(affines):
    euler = import_module("transforms3d.euler")

    def first(angle, zoom, shear):
        rotation = euler.euler2mat(angle, 0.2, 0.1)
        found = affines.decompose(affines.compose([1.0, 2.0, 3.0], rotation, [zoom, 1.2, 2.0], [shear, 0.1, 0.2]))
        return found[3][0] * found[2][0] * found[1][0, 1]

    return first


@program("pytransform3d.transformations", 0.3, -0.5, 0.8)
def adjoint_of_a_pose(transformations):
    rotations = import_module("pytransform3d.rotations")

    def entry(a, b, c):
        rotation = rotations.matrix_from_euler([a, b, c], 0, 1, 2, True)
        return transformations.adjoint_from_transform(transformations.transform_from(rotation, [1.0, 2.0, a]))[4, 1]

    return entry


@program("pytransform3d.transformations", 0.3, -0.5, 0.8)
def screw(transformations):
    rotations = import_module("pytransform3d.rotations")

    def entry(a, b, c):
        pose = transformations.transform_from(rotations.matrix_from_compact_axis_angle([a, b, c]), [1.0, 2.0, a])
        return transformations.exponential_coordinates_from_transform(pose)[3]

    return entry


@program("pytransform3d.rotations", 0.3, 0.6)
def between_rotations(rotations):
    def entry(angle, t):
        start = rotations.quaternion_from_axis_angle([1.0, 0.0, 0.0, angle])
        return rotations.quaternion_slerp(start, rotations.quaternion_from_axis_angle([0.0, 1.0, 0.0, 1.2]), t)[2]

    return entry


HOME = np.array([[-1.0, 0, 0, 0], [0, 1, 0, 6], [0, 0, -1, 2], [0, 0, 0, 1]])
SCREWS = np.array([[0, 0, 1, 4, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, -1, -6, 0, -0.1]]).T


@program("modern_robotics", 0.3, -0.5, 0.8)
def hand_of_a_robot(mr):
    return lambda a, b, c: mr.FKinSpace(HOME, SCREWS, np.array([a, b, c]))[0, 3]


@program("modern_robotics", 0.3, -0.5, 0.8)
def logarithm_of_a_rotation(mr):
    return lambda a, b, c: np.sum(mr.MatrixLog3(mr.MatrixExp3(mr.VecToso3(np.array([a, b, c])))) ** 2)


@program("modern_robotics", 0.1, 0.2, 0.3)
def torque(mr):
    links = [[0, 0, 0.089], [0.28, 0.136, 0], [0, -0.12, 0.395], [0, 0, 0.142]]
    poses = np.array([mr.RpToTrans(np.eye(3), np.array(p, float)) for p in links])
    inertias = np.array([np.diag([0.01, 0.01, 0.007, m, m, m]) for m in (3.7, 8.4, 2.3)])
    screws = np.array([[1.0, 0, 1, 0, 1, 0], [0, 1, 0, -0.089, 0, 0], [0, 1, 0, -0.089, 0, 0.425]]).T
    rest = (np.array([2.0, 1.5, 1.0]), np.array([0, 0, -9.8]), np.ones(6), poses, inertias, screws)
    return lambda a, b, c: mr.InverseDynamics(np.full(3, 0.1), np.array([a, b, c]), *rest)[0]


# ------------------------------------------------------------------------------------------------------------- the sky


@program("pymeeus.Coordinates", 40.0, 20.0)
def separation_of_stars(coordinates):
    angle = import_module("pymeeus.Angle").Angle

    def degrees(a, b):
        return coordinates.angular_separation(angle(a), angle(b), angle(120.0), angle(30.0))._deg

    return degrees


@program("pysolar.solar", 42.2, -71.4)
def altitude_of_the_sun(solar):
    when = datetime.datetime(2007, 2, 18, 20, 13, 1, 130320, tzinfo=datetime.UTC)
    return lambda latitude, longitude: solar.get_altitude(latitude, longitude, when)


@program("pysolar.solar", 42.2, -71.4)
def light_of_the_sun(solar):
    radiation = import_module("pysolar.radiation")
    when = datetime.datetime(2007, 2, 18, 18, 13, 1, 130320, tzinfo=datetime.UTC)
    return lambda lat, lon: radiation.get_radiation_direct(when, solar.get_altitude(lat, lon, when))


@program("sgp4.model", 10.0)
def satellite(model):
    elements = (
        0.0,
        0.0,
        0.1859667,
        5.7904160274885,
        0.5980929187319,
        0.3373093125574,
        0.0472294454407,
        6.0861854713832,
    )

    def position(t):
        s = model.Satrec()
        s.sgp4init(model.WGS72, "i", 5, 18441.785, 0.001, *elements)
        return s.sgp4_tsince(t)[1][0]

    return position


@program("geopy.distance", 51.2, 7.5)
def great_circle(distance):
    return lambda lat, lon: distance.great_circle((lat, lon), (50.0, 6.0)).km


@program("utm", 51.2, 7.5)
def utm_easting(utm):
    return lambda lat, lon: utm.from_latlon(lat, lon)[0]


@program("utm", 395201.3, 5673135.2)
def latitude_from_utm(utm):
    return lambda easting, northing: utm.to_latlon(easting, northing, 32, "U")[0]


# --------------------------------------------------------------------------------------------------------------- money


@program("mibian", 1.4565, 20.0)
def garman_kohlhagen(mibian):
    return lambda s, v: mibian.GK([s, 1.45, 1, 2, 30], volatility=v).callPrice


@program("blackscholes", 55.0, 0.15)
def price_of_a_call(blackscholes):
    return lambda s, v: blackscholes.BlackScholesCall(S=s, K=50.0, T=1.0, r=0.0025, sigma=v, q=0.0).price()


@program("blackscholes", 55.0, 0.15)
def speed_of_a_put(blackscholes):
    return lambda s, v: blackscholes.BlackScholesPut(S=s, K=50.0, T=1.0, r=0.0025, sigma=v, q=0.0).speed()


@program("nelson_siegel_svensson", 0.02, 2.0)
def yield_curve(nss):
    return lambda b, tau: nss.NelsonSiegelSvenssonCurve(0.028, b, -0.01, -0.015, tau, 5.0)(np.array([0.5, 3.0]))[1]


# ------------------------------------------------------------------------------------------------------- air and water


@program("psychrolib", 25.0, 0.6)
def dew_point(psychrolib):
    psychrolib.SetUnitSystem(psychrolib.SI)
    return lambda t, humidity: psychrolib.GetTDewPointFromRelHum(t, humidity)


@program("psychrolib", 25.0, 0.008)
def enthalpy_of_moist_air(psychrolib):
    psychrolib.SetUnitSystem(psychrolib.SI)
    return lambda t, w: psychrolib.GetMoistAirEnthalpy(t, w) * psychrolib.GetMoistAirVolume(t, w, 101325.0)


@program("thermofeel", 300.0, 290.0)
def heat_index(thermofeel):
    return lambda t, td: thermofeel.calculate_heat_index_adjusted(np.array([t]), np.array([td]))[0]


@program("ambiance", 11500.0)
def density_of_air(ambiance):
    return lambda h: ambiance.Atmosphere(h).density[0]


@program("seawater", 35.0, 10.0)
def speed_of_sound(seawater):
    return lambda s, t: seawater.svel(s, t, 1000.0)


# ----------------------------------------------------------------------------------------------------- light and sound


@program("colorspacious", 0.3, 0.7)
def appearance_of_a_colour(colorspacious):
    return lambda r, g: colorspacious.cspace_convert([r, g, 0.5], "sRGB1", "CAM02-UCS")[1]


@program("colorspacious", 0.3, 0.7)
def distance_of_colours(colorspacious):
    return lambda r, g: colorspacious.deltaE([r, g, 0.5], [0.5, 0.5, 0.2], input_space="sRGB1")


@program("magpylib", 1.0, 2.0)
def field_of_a_cuboid(magpylib):
    def field(x, y):
        magnet = magpylib.magnet.Cuboid(polarization=(0, 0, 1.0), dimension=(1.0, 1.0, 1.0))
        return magnet.getB((x, y, 1.0))[0]

    return field


@program("magpylib", 1.0, 2.0)
def field_of_a_loop(magpylib):
    return lambda x, d: magpylib.current.Circle(current=100.0, diameter=d).getB((x, 0.5, 1.0))[2]


@program("padasip", 0.3, 0.05)
def least_mean_squares(padasip):
    inputs = np.random.default_rng(0).normal(size=(30, 4))
    wanted = inputs @ np.array([1.0, 2.0, -1.0, 0.5])

    def error(a, mu):
        return np.sum(padasip.filters.FilterLMS(n=4, mu=mu, w=np.full(4, 0.1) * a).run(wanted, inputs)[1] ** 2)

    return error


@program("padasip", 0.3, 0.9)
def recursive_least_squares(padasip):
    inputs = np.random.default_rng(0).normal(size=(20, 3))
    wanted = inputs @ np.array([1.0, 2.0, -1.0])

    def error(a, mu):
        return np.sum(padasip.filters.FilterRLS(n=3, mu=mu, w=np.full(3, 1.0) * a).run(wanted, inputs)[1] ** 2)

    return error


@program("python_speech_features", 0.97)
def cepstrum(features):
    t = np.arange(800)
    signal = np.sin(t * 0.3) + 0.1 * np.cos(t * 1.1)
    return lambda emphasis: features.mfcc(signal, 16000, preemph=emphasis, nfft=512)[1, 3]


@program("mir_eval.melody", 440.0)
def cents(melody):
    return lambda f: melody.hz2cents(np.array([f, 220.0]))[0]

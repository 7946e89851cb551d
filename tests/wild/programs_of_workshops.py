"""Functions of public packages: lenses and fibres, arms and frames, beams, colours, ratings, the sun, decisions."""

from __future__ import annotations

import datetime

import numpy as np
from wild.programs import program

NOON = datetime.datetime(2024, 6, 1, 10, 30)


@program("elote", 1500.0, 1620.0)
def ratings_after_two_games(elote):
    def f(a, b):
        p, q = elote.EloCompetitor(initial_rating=a), elote.EloCompetitor(initial_rating=b)
        p.beat(q)
        q.tied(p)
        return p.rating - q.rating

    return f


@program("raytracing", 50.0, 75.0)
def two_lenses(raytracing):
    def f(a, b):
        path = raytracing.ImagingPath()
        for element in (raytracing.Space(d=a), raytracing.Lens(f=50.0), raytracing.Space(d=b), raytracing.Lens(f=b)):
            path.append(element)
        m = path.transferMatrix()
        return m.A + 2 * m.B + 3 * m.C + m.D

    return f


@program("ofiber", 2.0)
def mode_of_a_fibre(ofiber):
    return lambda v: ofiber.LP_mode_value(v, 0, 1)  # a root, in a try: where there is none, there is no mode


@program("ofiber", 2.0, 0.4)
def light_in_a_fibre(ofiber):
    return lambda v, b: ofiber.LP_core_irradiance(v, b, 0)


@program("laserbeamsize", 12.0, 0.3)
def size_of_a_beam(laserbeamsize):
    y, x = np.mgrid[0:30, 0:30] * 1.0 - 14

    def f(width, phi):
        along, across = x * np.cos(phi) + y * np.sin(phi), y * np.cos(phi) - x * np.sin(phi)
        return sum(laserbeamsize.basic_beam_size(100 * np.exp(-2 * (along**2 / width**2 + across**2 / 64)))[:4])

    return f


@program("refet", 25.0, 15.0)
def evaporation_of_a_day(refet):
    def f(warmest, coldest):
        day = refet.Daily(tmin=coldest, tmax=warmest, ea=1.2, rs=22.0, uz=2.0, zw=2.0, elev=100.0, lat=40.0, doy=180)
        return np.sum(day.eto())

    return f


@program("suncalc.suncalc", 10.0, 50.0)
def sun_over_a_place(suncalc):
    def f(longitude, latitude):
        place = suncalc.get_position(NOON, longitude, latitude)
        return place["azimuth"] + 2 * place["altitude"]

    return f


@program("squaternion", 0.3, 0.7)
def product_of_turns(squaternion):
    def f(a, b):
        turned = squaternion.Quaternion.from_euler(a, b, 0.1) * squaternion.Quaternion.from_euler(b, a, 0.4)
        unit = turned.normalize
        return unit.w + 2 * unit.x + 3 * unit.y + 4 * unit.z

    return f


@program("basic_colormath", 120.0, 60.0)
def distance_of_colours(colormath):
    return lambda r, g: colormath.get_delta_e((r, g, 30.0), (100, 200, 50)) + sum(colormath.rgb_to_lab((r, g, 30.0)))


@program("pycba", 30.0, 20.0)
def moment_in_a_beam(pycba):
    def f(stiffness, load):
        beam = pycba.BeamAnalysis([7.5, 7.0], stiffness * 1e3, [-1, 0, -1, 0, -1, 0])
        beam.add_udl(1, load)
        beam.analyze()
        return beam.beam_results.results.M.min() / 100

    return f


@program("vg", 0.4, 1.3)
def turned_vector(vg):
    weights, up = np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0])
    return lambda a, b: np.sum(vg.rotate(np.array([a, b, 0.3]), up, 10 * b) * weights)


@program("pymcdm.normalizations", 0.4, 1.3)
def comparable_criteria(normalizations):
    weights = np.arange(3.0)

    def f(a, b):
        x = np.array([a, b, 2.0])
        return np.sum((normalizations.vector_normalization(x) + normalizations.minmax_normalization(x)) * weights)

    return f


@program("gstools", 1.5, 2.0)
def variograms(gstools):
    lags = np.linspace(0.1, 3, 7)

    def f(variance, length):
        smooth = gstools.Matern(dim=2, var=variance, len_scale=length, nu=1.5)
        return np.sum(smooth.variogram(lags)) + np.sum(
            gstools.Spherical(dim=2, var=variance, len_scale=length).covariance(lags)
        )

    return f


@program("tinyik", 0.3, 0.7)
def end_of_an_arm(tinyik):
    def f(a, b):  # it imports autograd.numpy
        arm = tinyik.Actuator(["z", [1.0, 0.0, 0.0], "y", [1.0, 0.0, 0.0]])
        arm.angles = [a, b]
        return np.sum(arm.ee * np.array([1.0, 2.0, 3.0]))

    return f


@program("pybotics.geometry", 0.3, 0.7)
def pose_there_and_back(geometry):
    weights = np.arange(6.0)
    return lambda a, b: np.sum(geometry.matrix_2_vector(geometry.vector_2_matrix([1.0, 2.0, 3.0, a, b, 0.2])) * weights)


@program("solarpy", 500.0, 45.0)
def air_and_place(solarpy):
    return lambda height, latitude: solarpy.pressure(height) / 1e3 + solarpy.lla2ecef(latitude, 10.0, height)[0] / 1e6

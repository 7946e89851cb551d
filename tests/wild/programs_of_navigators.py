"""Functions of public packages: angles and places, ratings, loans, colours, frames, filters, annealing."""

from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np
from wild.programs import REFUSED_COMPILED, program

REFUSED_COMPILED |= {
    "distance_on_a_sphere": "texts are made of numbers, and looked at, where a range is checked",
    "rating_over_a_history": "np.errstate(divide='raise')",
}


# ------------------------------------------------------------------------------------------------------ places, angles


@program("pygeodesy", 50.0, 8.0, 60.0)
def distance_on_a_sphere(pygeodesy):
    from pygeodesy.sphericalTrigonometry import LatLon

    def f(latitude, longitude, bearing):
        there = LatLon(latitude, longitude).destination(1e5, bearing)
        return there.lat + 2 * there.lon

    return f


@program("geodepy.convert", 37.0, 144.0)
def place_in_space(convert):
    def f(latitude, longitude):
        x, y, z = convert.llh2xyz(latitude, longitude, 200.0)
        return (x + 2 * y - z) * 1e-6

    return f


@program("geodepy.angles", -37.0, 144.3)
def sums_of_angles(angles):
    def f(a, b):
        total = angles.DECAngle(a) + angles.DECAngle(b)
        return total.rad() * 2 + (-angles.DECAngle(a)).dec() * total.dec()

    return f


@program("solarsystem", 13.4, 52.5)
def place_of_the_moon(solarsystem):
    def f(longitude, latitude):
        moon = solarsystem.Moon(2020, 9, 5, 12, 0, longtitude=longitude, latitude=latitude, topographic=True)
        ascension, declination = moon.position()[:2]
        return ascension + declination

    return f


@program("skrobot.coordinates", 0.4, 0.9, -0.3)
def frame_of_a_robot(coordinates):
    def f(x, y, angle):
        frame = coordinates.Coordinates(pos=[x, y, 1.0])
        frame.rotate(angle, "z")
        frame.translate([0.1, 0.2, 0.3])
        frame.rotate(y, "y")
        return frame.worldpos()[0] + 2 * frame.worldpos()[1] + frame.rotation[0, 2]

    return f


@program("pyransac.line2d", 1.4, 0.9)
def distance_from_a_line(line2d):
    def f(a, b):
        line = line2d.Line2D()
        line.make_model([line2d.Point2D(0.0, a), line2d.Point2D(1.0, b)])
        return line.calc_error(line2d.Point2D(2.0, 0.3))

    return f


# ------------------------------------------------------------------------------------------------ ratings, loans, luck


@program("skelo.model.glicko2", 1500.0, 1600.0)
def rating_of_a_player(glicko2):
    def f(own, other):
        rating, deviation = glicko2.Glicko2Model().evolve_rating((own, 200.0, 0.06), (other, 30.0, 0.06), 1.0)[:2]
        return rating + deviation

    return f


@program("whr", 300.0)
def rating_over_a_history(whr):
    def f(w2):
        history = whr.WHR({"w2": w2})
        for black, white, winner, day in (("a", "b", "B", 1), ("b", "c", "W", 2), ("a", "c", "W", 4)):
            history.create_game(black, white, winner, day, 0)
        history.iterate(3)
        return history.log_likelihood()

    return f


@program("loan_calculator.schedule.price", 0.0005, 1000.0)
def instalments(price):
    def f(interest, principal):
        schedule = price.ProgressivePriceSchedule(principal, interest, list(range(30, 181, 30)))
        return schedule.due_payments[0] + schedule.balance[2] + schedule.interest_payments[1]

    return f


@program("perlin_noise", 0.3, 0.61)
def noise_of_a_landscape(perlin_noise):
    def f(x, y):
        noise = perlin_noise.PerlinNoise(octaves=3, seed=7)
        return noise([x, y]) + 0.5 * noise([y, x])

    return f


@program("simanneal", 0.5, 0.3)
def annealing(simanneal):
    def f(a, b):
        class Problem(simanneal.Annealer):
            def move(self):
                self.state = [x + random.uniform(-1, 1) for x in self.state]

            def energy(self):
                return (self.state[0] - a) ** 2 + b * self.state[1] ** 2

            def update(self, *args):
                pass

        random.seed(1)
        problem = Problem([1.0, 2.0])
        problem.steps, problem.Tmax, problem.Tmin, problem.updates = 10, 10.0, 1.0, 0
        return problem.anneal()[1]

    return f


# ----------------------------------------------------------------------------------------- matter, colours, structures


@program("thermopy.iapws", 600.0, 2.0)
def water(iapws):
    def f(temperature, pressure):
        state = iapws.Water(p=pressure * 1e6, T=temperature)
        return state.enthalpy() + state.entropy()

    return f


@program("propka.energy", 5.1, 0.3)
def coulomb_energy(energy):
    parameters = SimpleNamespace(
        coulomb_cutoff1=4.0, coulomb_cutoff2=10.0, Nmin=280.0, Nmax=560.0, dielectric1=160.0, dielectric2=30.0
    )
    return lambda distance, weight: energy.coulomb_energy(distance, weight, parameters)


@program("ciecam02", 0.3, 0.5, 0.2)
def appearance_of_a_colour(ciecam02):
    def f(r, g, b):
        seen = ciecam02.rgb2jch(np.array([[r * 255, g * 255, b * 255]]))
        return seen[0, 0] + 0.5 * seen[0, 1]

    return f


@program("Pynite", 12.0, 20.0)
def beam_with_two_loads(pynite):
    def f(load, line_load):
        model = pynite.FEModel3D()
        model.add_material("S", 29000.0, 11200.0, 0.3, 2.8e-4)
        model.add_section("W", 20.0, 100.0, 150.0, 250.0)
        model.add_node("N1", 0, 0, 0)
        model.add_node("N2", 168.0, 0, 0)
        model.add_member("M1", "N1", "N2", "S", "W")
        model.def_support("N1", True, True, True, True, False, False)
        model.def_support("N2", True, True, True, False, False, False)
        model.add_member_pt_load("M1", "Fy", -load, 84.0)
        model.add_member_dist_load("M1", "Fy", -0.01 * line_load, -0.01 * line_load, 0, 168)
        model.analyze(check_statics=False, sparse=False)
        return model.members["M1"].max_moment("Mz") + model.nodes["N1"].RxnFY["Combo 1"]

    return f


@program("gammatone.filters", 1000.0, 0.5)
def filters_of_an_ear(filters):
    def f(frequency, width):
        bank = filters.make_erb_filters(16000, np.array([frequency, 500.0]), width)
        return 1e3 * np.sum(filters.erb_filterbank(np.sin(np.arange(20.0) * width), bank) ** 2)

    return f


@program("pycircstat2.descriptive", 0.4, 2.0)
def mean_of_directions(descriptive):
    def f(a, b):
        angles = np.array([0.1, a, b, 1.2, 0.5])
        return descriptive.circ_r(angles) + descriptive.circ_mean(angles) * descriptive.circ_kurtosis(angles)

    return f

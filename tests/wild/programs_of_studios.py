"""Functions of public packages: drawing, sound, clocks, games, soils, structures, light, epidemics, money."""

from __future__ import annotations

import numpy as np
from wild.programs import program


@program("euclid3", 1.0, 2.0)
def turned_point(euclid):
    axis = euclid.Vector3(1, 1, 0).normalized()
    return lambda a, b: (euclid.Quaternion.new_rotate_axis(a, axis) * euclid.Vector3(b, 1, 2)).x


@program("euclid3", 1.0, 2.0)
def distance_to_a_line(e):
    return lambda a, b: e.Line2(e.Point2(0.0, 0.0), e.Vector2(a, 1.0)).distance(e.Point2(b, 0.3))


@program("svgelements", 1.0, 2.0)
def curve_of_a_drawing(s):
    ends = s.Point(0, 0), s.Point(3, 1)
    return lambda a, b: s.CubicBezier(ends[0], s.Point(a, 1), s.Point(2, b), ends[1]).point(0.3).y


@program("ezdxf.math", 1.0, 2.0)
def drawn_to_scale(m):
    turned = m.Matrix44.axis_rotate
    return lambda a, b: (turned((0, 1, 1), a) * m.Matrix44.translate(b, 1, 2)).transform((1, 2, b)).x


@program("pytweening", 0.3)
def eased(p):
    return lambda t: p.easeInOutQuad(t) + p.easeOutBounce(t) + p.easeInOutElastic(t) + p.easeInOutBack(t)


@program("pyciede2000", 50.0, 20.0)
def difference_of_two_colours(c):
    return lambda a, b: c.ciede2000((a, b, 10.0), (45.0, 15.0, 12.0))["delta_E_00"]


@program("allantools", 1.5, 0.3)
def deviation_of_a_clock(allantools):
    t = np.arange(200.0)
    return lambda a, b: np.sum(
        allantools.adev(a * np.sin(0.37 * t) + b * t**1.5 / 100, rate=1.0, data_type="phase", taus=[1, 2, 4, 8])[1]
    )


@program("choix", 0.3, 0.6)
def likelihood_of_choices(choix):
    data = [(0, 1), (1, 2), (0, 2), (2, 1)]
    return lambda a, b: choix.log_likelihood_pairwise(data, np.array([a, b, 0.0]))


@program("minisom", 0.3, 0.1)
def map_of_neurons(minisom):
    som = minisom.MiniSom(3, 3, 2, random_seed=1)
    return lambda a, b: np.sum(som.activate(np.array([a, b])))


@program("opfunu.name_based", 0.3, 0.1)
def counted_evaluations(opfunu):
    functions = [opfunu.Ackley02(), opfunu.Beale(), opfunu.Branin01(), opfunu.Bird()]
    return lambda a, b: sum(f.evaluate(np.array([a, b])) for f in functions)


@program("visual_kinematics.RobotSerial", 0.3, 0.7)
def arm_of_three_joints(v):
    robot = v.RobotSerial(np.array([[0.163, 0.0, 0.0, 1.57], [0.0, 0.632, 3.14, 1.57], [0.0, 0.6, 0.2, 0.1]]))
    return lambda a, b: np.sum(robot.forward(np.array([a, b, 0.2])).t_3_1)


@program("groundhog.shallowfoundations.capacity", 100.0, 33.0)
def footing_on_sand(c):
    return lambda s, phi: c.verticalcapacity_drained_api(s, phi, 9.0, 5.0, 3.0)["qu [kPa]"] / 1e3


@program("solidspy.uelutil", 2.0, 0.3)
def quadrilateral(u):
    corners = np.array([[0.0, 0.0], [1.0, 0.1], [1.2, 1.0], [0.0, 0.9]])
    return lambda E, nu: np.sum(np.abs(u.elast_quad4(corners, (E, nu, 1.0))[0]))


@program("electricpy", 10.0, 3.0)
def bridge_of_impedances(e):
    return lambda a, b: abs(e.bridge_impedance(a, b + 2j, 3.0, 4.0, 5.0 + 1j)) + e.voltdiv(a, b, 2.0)


@program("LightPipes", 0.4, 1.2)
def beam_through_space(light):
    def total(r, z):
        beam = light.GaussBeam(light.Begin(0.005, 1e-6, 16), r * 1e-3)
        return np.sum(light.Intensity(light.Fresnel(beam, z))[6:9, 7])

    return total


@program("epimodels.continuous.models", 0.5, 0.2)
def course_of_an_epidemic(m):
    start = [990.0, 10.0, 0.0]
    return lambda b, g: m.SIR()._model(0.0, start, {"beta": b, "gamma": g, "N": 1000.0})[1]


@program("pyfeng", 0.3, 105.0)
def price_with_a_smile(p):
    return lambda s, k: p.SabrHagan2002(sigma=s, vov=0.4, rho=-0.2, beta=0.6).price(strike=k, spot=100.0, texp=1.0)


@program("skspatial.objects", 0.5, 0.7)
def angle_of_vectors(objects):
    vector = objects.Vector
    return lambda a, b: vector([a, b, 1.0]).angle_between([1.0, b, 0.2]) + vector([a, b, 1.0]).cross([1.0, 0.0, a])[1]


@program("vectormath", 0.5, 0.7)
def unit_vector(vectormath):
    vector = vectormath.Vector3
    return lambda a, b: vector(a, b, 1.0).cross(vector(0.3, b, 1.0)).length + vector(a, b, 1.0).as_unit().x


@program("vectormath", 0.5, 0.7)
def array_of_vectors(vectormath):
    return lambda a, b: vectormath.Vector3Array([a, 0.0], [b, 1.0], [a * b, 2.0]).length.sum()


@program("pyglet.math", 0.5, 0.7)
def vectors_of_a_game(math):
    def total(a, b):
        turned = math.Vec2(a, b).rotate(a).heading()
        return math.Vec3(a, b, 2.0).normalize().dot(math.Vec3(1.0, 2.0, 3.0)) + turned

    return total


@program("pyglet.math", 0.5, 0.7)
def turned_and_moved(math):
    axis = math.Vec3(0.0, 0.0, 1.0)
    return lambda a, b: sum(math.Mat4.from_translation(math.Vec3(a, b, 1.0)) @ math.Mat4.from_rotation(a, axis))


@program("fontTools.misc.transform", 0.5, 0.7)
def transform_of_a_glyph(transform):
    return lambda a, b: sum(
        transform.Transform(a, 0.1, 0.2, b, 3.0, 4.0).inverse().rotate(a).transformPoint((1.0, 2.0))
    )


@program("svg.path", 0.5, 0.7)
def length_of_a_curve(path):
    return lambda a, b: path.QuadraticBezier(0j, complex(a, 1), complex(2, b)).length()


@program("affine", 0.5, 0.7)
def affine_map(affine):
    turned = affine.Affine.rotation
    return lambda a, b: (turned(a * 20) @ affine.Affine.scale(b, 2.0)).determinant + turned(a * 20).a


@program("easing_functions", 0.35, 2.0)
def easing(easing_functions):
    kinds = (easing_functions.CubicEaseOut, easing_functions.SineEaseIn, easing_functions.BounceEaseOut)
    return lambda t, d: sum(kind(start=0, end=d, duration=1).ease(t) for kind in kinds)

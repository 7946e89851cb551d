"""Functions of public packages: aircraft and orbits, wells and fuel cells, spectra and scattering, heat and light."""

from __future__ import annotations

import numpy as np
from wild.programs import program

WAVE = np.sin(0.7 * np.arange(24)) + 0.3 * np.cos(2.1 * np.arange(24))


# ------------------------------------------------------------------------------------------------- aircraft and orbits


@program("aerocalc3.airspeed", 250.0, 20000.0)
def true_airspeed(airspeed):
    return lambda speed, height: airspeed.cas2tas(speed, height)


@program("openap", 60000.0, 250.0, 30000.0)
def drag_of_an_airliner(openap):
    drag = openap.Drag(ac="A320")
    return lambda mass, speed, height: drag.clean(mass=mass, tas=speed, alt=height)


@program("isacalc", 5000.0)
def layers_of_the_atmosphere(isacalc):
    air = isacalc.Atmosphere()  # keeps the number of the layer that it looked at last
    return lambda height: air.calculate(height)[3]


@program("orbit_predictor.keplerian", 11067.79, 0.83285, 1.5, 3.9, 0.93, 1.6)
def state_on_an_orbit(keplerian):
    def f(*elements):
        r, v = keplerian.coe2rv(398600.4418, *elements)
        return np.sum(r) + np.dot(v, v)

    return f


@program("orbit_predictor.coordinate_systems", 40.0, -105.0, 2.0)
def there_and_back(systems):
    def f(latitude, longitude, height):
        place = systems.llh_to_ecef(latitude, longitude, height)
        return systems.ecef_to_llh(place)[2] + place[0]

    return f


@program("great_circle_calculator.great_circle_calculator", -121.4, 38.5, -0.1)
def along_a_great_circle(circle):
    def f(longitude, latitude, other):
        p, q = (longitude, latitude), (other, 51.5)
        between = circle.intermediate_point(p, q, 0.3)
        return between[0] + between[1] + circle.bearing_at_p1(p, q) + circle.distance_between_points(p, q) * 1e-6

    return f


# ------------------------------------------------------------------------------------------- wells, fuel cells, pumps


@program("opem.Static.Amphlett", 343.15, 1.5, 8.0)
def voltage_of_a_fuel_cell(amphlett):
    def f(T, p, i):  # whose functions print where they fail
        lost = amphlett.Eta_Act_Calc(T, p, p, i, 50.6) + amphlett.Eta_Conc_Calc(i, 50.6, 0.016, 1.5)
        return amphlett.Enernst_Calc(T, p, p) - lost

    return f


@program("hplib.hplib", 5.0, 35.0)
def heat_pump(hplib):
    pump = hplib.HeatPump(hplib.get_parameters("Generic", group_id=1, t_in=-7, t_out=52, p_th=10000))
    return lambda source, sink: pump.simulate(t_in_primary=source, t_in_secondary=sink, t_amb=source, mode=1)["COP"]


@program("pychemengg.heattransfer.transient", 53.0, 2800.0, 880.0)
def quenched_plate(transient):
    def f(h, density, specificheat):
        plate = transient.LumpedSystem(
            thermalconductivity=180, density=density, specificheat=specificheat, T_initial=700, T_infinity=15,
            heattransfercoefficient=h, surfacearea=2 * 1, volume=1 * 2e-2,
        )  # fmt: skip
        return plate.calc_temperature_of_solid_at_time_t(time=60)

    return f


@program("chemics", 350.0, 101325.0)
def density_and_viscosity(chemics):
    return lambda T, p: chemics.Gas("N2", T, p).density() * chemics.Gas("N2", T, p).viscosity()


# --------------------------------------------------------------------------------------------- spectra and scattering


@program("miepython", 2.5)
def extinction_by_a_sphere(miepython):
    return lambda x: miepython.efficiencies_mx(1.5 - 0.1j, x)[0]  # tables are made read-only, and kept


@program("iadpython", 0.9, 0.5, 0.6)
def adding_and_doubling(iadpython):
    def f(a, b, g):
        reflected, transmitted, _, _ = iadpython.Sample(a=a, b=b, g=g, quad_pts=4).rt()
        return reflected + 2 * transmitted

    return f


@program("periodictable.nsf", 2.0, 7.0)
def scattering_length(nsf):
    return lambda density, wavelength: nsf.neutron_sld("H2O", density=density, wavelength=wavelength)[0]


@program("Dans_Diffraction", 5.43, 8.0)
def angles_of_reflections(Dans_Diffraction):
    functions = Dans_Diffraction.functions_crystallography

    def f(a, energy):
        cell = functions.RcSp(np.array([[a, 0, 0], [0, a * 1.1, 0], [0.2, 0, a]]))
        return np.sum(functions.hkl2twotheta(np.array([[1, 1, 1], [2, 0, 1]]), cell, energy))

    return f


@program("nmrsim.discrete", 430.0, 265.0, 10.0)
def coupled_spins(discrete):
    def f(a, b, J):
        lines = discrete.AB(J, a - b, 300.0)
        return sum(v * i for v, i in lines) + sum(v * i**2 for v, i in discrete.ABX(7.0, 12.0, 10.0, a, b, 118.5))

    return f


@program("peakutils", 2.0, 1.0, 0.7)
def peak_above_its_baseline(peakutils):
    x = np.linspace(-3, 5, 40)

    def f(height, center, width):
        y = peakutils.peak.gaussian(x, height, center, width)
        rest = y - peakutils.baseline(y + 0.1 * x, 2)
        return peakutils.peak.centroid(x, y) + np.sum(rest**2)

    return f


@program("vmdpy", 1.0, 0.3)
def modes_of_a_signal(vmdpy):
    def f(a, b):
        modes, _, _ = vmdpy.VMD(a * WAVE + b * np.arange(24.0) / 24, 200.0, 0.0, 2, 0, 1, 1e-2)
        return np.sum(np.abs(modes[0]) ** 2)

    return f


@program("commpy.filters", 0.35, 1.0)
def raised_cosine(filters):
    return lambda a, Ts: np.sum(filters.rrcosfilter(16, a, Ts, 5.0)[1] ** 2)


@program("rmsd", 0.3, 1.1)
def distance_of_two_molecules(rmsd):
    other = np.array([[0.1, 0.0, 0.1], [0.1, 1.2, 0.3], [-0.9, 0.2, 0.4], [0.0, 0.6, 1.1]])

    def f(a, b):
        molecule = np.array([[0.0, 0.1, 0.2], [1.0, 0.2, 0.1], [a, b, 0.4], [0.2, 0.5, 1.2]])
        return rmsd.kabsch_rmsd(molecule, other, translate=True) + rmsd.quaternion_rmsd(molecule, other)

    return f


@program("anaflow", 1e-3, 2e-4)
def drawdown_around_a_well(anaflow):
    t, r = np.array([10.0, 100.0]), np.array([1.0, 5.0, 20.0])
    return lambda T, S: np.sum(anaflow.theis(t, r, storage=S, transmissivity=T, rate=-1e-3))


@program("solarenergy", 0.6, 900.0)
def clear_sky(solarenergy):
    return lambda height, pressure: sum(solarenergy.clearsky_bird(height, press=pressure)[:3])

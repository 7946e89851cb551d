"""Functions of public packages: galaxies and waves, fields of the Earth, soils and leaves, films of glass, loudness."""

from __future__ import annotations

import datetime

import numpy as np
from wild.programs import program

NINE = np.arange(9.0).reshape(3, 3)


@program("galpy.potential", 1.1, 0.2)
def potential_of_a_galaxy(potential):
    disk, halo = potential.MiyamotoNagaiPotential(a=0.5, b=0.1, normalize=0.6), potential.NFWPotential(normalize=0.35)
    return lambda r, z: potential.evaluatePotentials(disk + halo, r, z) + potential.evaluateRforces(disk + halo, r, z)


@program("galpy.potential", 0.5, 4.5)
def speed_in_a_galaxy(potential):
    def f(a, b):
        disk = potential.MiyamotoNagaiPotential(a=a, b=0.1, normalize=0.6)
        both = disk + potential.NFWPotential(a=b, normalize=0.35)
        return potential.vcirc(both, 1.3) + potential.evaluateDensities(both, 1.0, 0.1)

    return f


@program("bilby.gw.conversion", 36.0, 29.0)
def masses_of_black_holes(conversion):
    def f(a, b):
        chirp, ratio = conversion.component_masses_to_chirp_mass(a, b), b / a
        return chirp + sum(conversion.chirp_mass_and_mass_ratio_to_component_masses(2 * chirp, ratio))

    return f


@program("bilby.core.prior", 0.3, 0.6)
def prior_of_a_mass(prior):
    power, normal = prior.PowerLaw(alpha=-1.5, minimum=1, maximum=50), prior.TruncatedGaussian(0.3, 1.2, -1, 2)
    return lambda a, b: power.rescale(a) + normal.ln_prob(b) + power.ln_prob(a + 5)


@program("pyorbital.astronomy", 10.0, 50.0)
def sun_from_a_satellite(astronomy):
    time = np.datetime64("2024-06-01T10:30:00")

    def f(longitude, latitude):
        altitude, azimuth = astronomy.get_alt_az(time, longitude, latitude)
        return altitude + 2 * azimuth + astronomy.cos_zen(time, longitude, latitude)

    return f


@program("pedon", 0.05, 1.6)
def water_in_soil(pedon):
    heads = np.array([1.0, 10.0, 100.0])

    def f(alpha, n):
        soil = pedon.Genuchten(k_s=10.0, theta_r=0.05, theta_s=0.4, alpha=alpha, n=n)
        return np.sum(soil.theta(heads)) + np.sum(soil.k(heads))

    return f


@program("pedon", 2.0, 0.3)
def water_in_sand(pedon):
    heads = np.array([1.0, 10.0, 100.0])

    def f(entry, exponent):
        soil = pedon.Brooks(k_s=10.0, theta_r=0.05, theta_s=0.4, h_b=entry, l=exponent)
        return np.sum(soil.theta(heads)) + np.sum(soil.k(heads))

    return f


@program("ppigrf", 5.0, 60.0)
def magnetic_field(ppigrf):
    date = datetime.datetime(2021, 3, 28)
    return lambda longitude, latitude: sum(  # it reads its table at every call
        k * np.sum(b) for k, b in enumerate(ppigrf.igrf(longitude, latitude, 10.0, date), 1)
    )


@program("pygeomag", 47.6, -122.3)
def declination_of_a_compass(pygeomag):
    model = pygeomag.GeoMag()

    def f(latitude, longitude):
        found = model.calculate(glat=latitude, glon=longitude, alt=0.1, time=2025.25)
        return found.d + found.i + found.h / 1e3 + found.f / 1e3

    return f


@program("photovoltaic.cell", 0.6, 0.035)
def fill_factor_of_a_cell(cell):
    return lambda v, i: cell.FF_Rs(v, i, 0.5) + cell.FF_RsRsh(v, i, 0.5, 1000.0) + cell.I_cell(v, i, 1e-12)


@program("photovoltaic.sun", 30.0, 11.0)
def sun_over_a_panel(sun):
    return lambda latitude, hour: sum(sun.elev_azi(12.0, latitude, hour)) + sun.air_mass(latitude)


@program("itmlogic.diffraction_attenuation.aknfe", 2.0)
def waves_over_an_edge(aknfe):
    return lambda v: aknfe.aknfe(v) + aknfe.aknfe(8 * v)


@program("EMpy", 1.4, 0.3)
def light_through_a_film(EMpy):
    lengths = np.array([0.5e-6, 0.6e-6])

    def f(n, angle):
        index, layer = EMpy.materials.RefractiveIndex, EMpy.utils.Layer
        air, film, glass = [EMpy.materials.IsotropicMaterial("m", n0=index(n0_const=k)) for k in (1.0, n, 3.5)]
        stack = EMpy.utils.Multilayer([layer(air, np.inf), layer(film, 1e-7), layer(glass, np.inf)])
        found = EMpy.transfer_matrix.IsotropicTransferMatrix(stack, angle).solve(lengths)
        return np.sum(found.Rs) + np.sum(found.Tp)

    return f


@program("PyMoosh", 2.2, 120.0)
def light_on_a_film(PyMoosh):
    def f(permittivity, thickness):
        stack = PyMoosh.Structure([1.0, permittivity, 4.0], [0, 1, 2], [0, thickness, 0], verbose=False)
        _, _, back, through = PyMoosh.coefficient(stack, 600.0, 0.3, 0)
        return back + 2 * through

    return f


@program("skinematics.quat", 0.3, 0.2)
def turns_of_a_head(quat):
    def f(a, b):
        turned = quat.q_inv(quat.q_mult(np.array([1.0, a, b, 0.1]), np.array([1.0, 0.2, b, a])))
        return np.sum(turned * np.arange(4.0)) + np.sum(quat.convert(quat.unit_q(np.array([a, b, 0.1]))) * NINE)

    return f


@program("skinematics.vector", 0.3, 0.2)
def angles_of_a_head(vector):
    def f(a, b):
        v, w = np.array([a, b, 1.0]), np.array([0.2, a, b])
        shortest = vector.GramSchmidt(v, w, np.array([0.0, 1.0, 2.0]))
        return vector.angle(v, w) + np.sum(vector.project(v, w)) + np.sum(shortest)

    return f


@program("stonesoup.functions", 0.3, 0.7)
def coordinates_of_a_track(functions):
    def f(a, b):
        turned = functions.rotx(a) @ functions.roty(b) @ functions.rotz(a)
        return sum(functions.cart2sphere(a, b, 1.0)) + sum(functions.sphere2cart(2.0, a, b)) + np.sum(turned * NINE)

    return f


@program("pyloudnorm", 0.3, 0.2)
def loudness(pyloudnorm):
    times, meter = np.arange(8000) / 8000.0, pyloudnorm.Meter(8000)
    return lambda a, b: meter.integrated_loudness(a * np.sin(2000 * times) + b * np.cos(3000 * times))


@program("felupe", 1.2, 0.3)
def stress_of_rubber(felupe):
    weights = np.arange(9.0).reshape(3, 3, 1, 1)

    def f(a, b):
        F = np.array([[a, b, 0.0], [0.1, 1.0, 0.0], [0.0, 0.0, 1.1]]).reshape(3, 3, 1, 1)
        return np.sum(felupe.NeoHooke(mu=1.0, bulk=2.0).gradient([F, None])[0] * weights)

    return f


@program("sk_dsp_comm.sigsys", 0.35, 0.3)
def raised_cosines(sigsys):
    weights = np.arange(17.0)
    return lambda a, b: np.sum((sigsys.rc_imp(4, a, 2) + sigsys.sqrt_rc_imp(4, b, 2)) * weights)


@program("komm", 0.3, 0.5)
def pulses(komm):
    times = np.linspace(-2, 2, 9)

    def f(a, b):
        cosine, bell = komm.RaisedCosinePulse(rolloff=a), komm.GaussianPulse(half_power_bandwidth=b)
        return np.sum(cosine.waveform(times)) + np.sum(bell.waveform(times))

    return f


@program("apsg", 30.0, 40.0)
def angles_in_rock(apsg):
    return lambda a, b: apsg.vec(1.0, 2.0, a / 10).angle(apsg.vec(a, b, 3.0)) + apsg.lin(a, b).angle(apsg.lin(110, 20))


@program("composipy", 60.0, 0.3)
def stiffness_of_a_laminate(composipy):
    def f(modulus, nu):
        ply = composipy.OrthotropicMaterial(modulus * 1e3, 8.96e3, nu, 7.1e3, 0.2)
        return np.sum(np.abs(composipy.LaminateProperty([0, 45, -45, 90], ply).D)) / 1e4

    return f


@program("geoana.gravity", 2.0, 0.3)
def gravity_of_a_sphere(gravity):
    places = np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 0.0]])

    def f(radius, density):
        ball = gravity.Sphere(radius=0.2 * radius, rho=density)
        return 1e10 * (np.sum(ball.gravitational_potential(places)) + np.sum(ball.gravitational_field(places)))

    return f


@program("geoana.em.static", 2.0, 0.3)
def field_of_a_dipole(static):
    places = np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 0.0]])

    def f(moment, depth):
        dipole = static.MagneticDipoleWholeSpace(location=np.array([0.0, 0.0, depth]), moment=moment)
        return 1e7 * np.sum(dipole.magnetic_flux_density(places) * np.arange(1.0, 4.0))

    return f


@program("pytheos", 70.0, 160.0)
def pressure_in_a_mineral(pytheos):
    return lambda v, k: pytheos.bm3_p(v, 75.0, k, 4.1) + pytheos.bm3_k(20.0, 75.0, k, 4.1) / 100


@program("rocketprops.colebrook", 1e-4, 1e5)
def friction_in_a_pipe(colebrook):
    return lambda e, r: colebrook.ffact(e, r) + colebrook.buzzelli_ffact(e, r) + colebrook.colebrook_ffact(e, 1.0, r)


@program("pyrealm.core.water", 20.0, 101325.0)
def water_of_plants(water):
    def f(warmth, pressure):
        t, p = np.array([warmth]), np.array([pressure])
        return np.sum(water.calc_density_h2o_fisher(t, p)) + 1e3 * np.sum(water.calc_viscosity_h2o(t, p))

    return f


@program("pyrealm.core.hygro", 20.0, 0.6)
def air_around_plants(hygro):
    def f(warmth, humidity):
        t = np.array([warmth])
        return np.sum(hygro.calc_vp_sat(t)) + np.sum(hygro.convert_rh_to_vpd(np.array([humidity]), t))

    return f


@program("xraydb", 0.5, 0.2)
def scattering_by_iron(xraydb):
    return lambda a, b: np.sum(xraydb.f0("Fe", np.array([a, b])))


@program("smrt.permittivity.water", 2.0, 280.0)
def water_for_microwaves(water):
    def f(frequency, temperature):
        first = water.water_permittivity_maetzler87(1e10 * frequency, temperature)
        return np.real(first) + np.imag(water.water_permittivity_turner16(1e10 * frequency, temperature))

    return f


@program("unsatfit", 0.3, 2.0)
def retention_of_water(unsatfit):
    heads = np.array([1.0, 5.0, 50.0])

    def f(a, n):
        fit = unsatfit.Fit()
        fit.set_model("vg", const=["q=1"])
        return np.sum(fit.f_ht((0.05, 0.4, a, 1 - 1 / n), heads))

    return f


@program("poppy.zernike", 0.4, 0.7)
def aberrations(zernike):
    def f(radius, angle):
        rho, theta = np.array([radius, 0.5]), np.array([angle, 0.1])
        return zernike.zernike(3, 1, rho=rho, theta=theta).sum() + zernike.zernike(4, 0, rho=rho, theta=theta).sum()

    return f


@program("pyfao56.refet", 30.0, 15.0)
def evaporation_of_grass(refet):
    return lambda warm, cold: refet.ascedaily("S", 100.0, 45.0, 180, 22.0, warm, cold, vapr=1.2, wndsp=2.0)


@program("thewalrus.symplectic", 0.4, 0.7)
def squeezed_light(symplectic):
    def f(r, angle):
        squeezed, mixed = symplectic.expand(symplectic.squeezing(r), 0, 2), symplectic.beam_splitter(angle, 0.3)
        covariance = mixed @ squeezed @ squeezed.T @ mixed.T
        return np.sum(symplectic.reduced_state(np.zeros(4), covariance, [0])[1] * np.array([[1.0, 2.0], [3.0, 4.0]]))

    return f

"""Cameras and points explain the observations to within their noise."""

from examples.gallery.bundle_adjustment import bundle_adjustment as program


def test_residuals_are_noise():
    found = program.main(small=True)
    assert found["before"] > 10 * found["noise"]
    assert found["after"] < found["noise"]  # some of the noise is fitted

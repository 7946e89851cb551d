"""The generator finds the heaps, and puts its points near them."""

from examples.gallery.adversarial_network import adversarial_network as program


def test_heaps_are_found():
    found = program.main(small=True)
    assert found["heaps_found"] >= 6
    assert found["near"] > 0.7

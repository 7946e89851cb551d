"""The pose is found to within the noise; bones keep their lengths."""

import numpy as np

from examples.gallery.hand_pose import hand_pose as program


def test_the_pose_is_found():
    found = program.main(small=True)
    assert found["error"] < 3 * found["noise"]
    bones = np.linalg.norm(np.diff(found["places"], axis=1), axis=2)
    np.testing.assert_allclose(bones, program.LENGTHS, rtol=1e-12)

# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Thread sizes agree with the tables of the standards, and impossible threads are refused.

Pictures of bolts and nuts have the profile of their threads, and are small messages.
"""

import math

import numpy as np
import pytest
from arm_tasks.errors import SceneError
from arm_tasks.scene.screw_thread import INCH, ScrewThread, bolt_picture, nut_picture
from hypothesis import given
from hypothesis import strategies as st

QUARTER_20 = ScrewThread.of(0.25 * INCH, INCH / 20.0)
M6 = ScrewThread.of(6e-3, 1e-3)
# (least, most) of ASME B1.1-2003, table 2, 1/4-20 UNC 2A and 2B [inch]; of ISO 965-2:1998,
# M6 6g and 6H, medium fit [mm]: the middle of each is the size here.
TABLES = [
    (QUARTER_20.external.major / INCH, 0.2408, 0.2489),
    (QUARTER_20.external.pitch_diameter / INCH, 0.2127, 0.2164),
    (QUARTER_20.internal.pitch_diameter / INCH, 0.2175, 0.2224),
    (QUARTER_20.internal.minor / INCH, 0.196, 0.207),
    (M6.external.major * 1e3, 5.794, 5.974),
    (M6.external.pitch_diameter * 1e3, 5.212, 5.324),
    (M6.internal.pitch_diameter * 1e3, 5.350, 5.500),
    (M6.internal.minor * 1e3, 4.917, 5.153),
]


@pytest.mark.parametrize(("size", "least", "most"), TABLES)
def test_size_is_the_middle_of_the_table(size, least, most):
    assert size == pytest.approx(0.5 * (least + most), rel=1e-3)


@pytest.mark.parametrize("thread", [QUARTER_20, M6, ScrewThread.of(3e-3, 0.5e-3, -1)])
def test_bolt_fits_the_nut_everywhere(thread):
    for i in range(200):
        u = thread.pitch * (i / 200.0 - 0.5)
        bolt, nut = (s.radius(u, thread.pitch) for s in (thread.external, thread.internal))
        assert bolt < nut
    assert 0.0 < thread.radial_clearance < 0.15 * thread.pitch


def test_flanks_enclose_60_degrees():
    sizes, p = QUARTER_20.external, QUARTER_20.pitch
    rise = sizes.radius(0.24 * p, p) - sizes.radius(0.26 * p, p)
    assert math.atan(0.02 * p / rise) == pytest.approx(math.radians(30.0))


@pytest.mark.parametrize(("diameter", "pitch"), [(0.0, 1e-3), (6e-3, -1e-3), (6e-3, math.nan)])
def test_sizes_must_be_positive(diameter, pitch):
    with pytest.raises(SceneError, match="does not exist"):
        ScrewThread.of(diameter, pitch)


@pytest.mark.parametrize(
    ("thread", "name"),
    [
        (QUARTER_20, "1/4-20"),
        (ScrewThread.of(6.35e-3, 1.27e-3, -1), "1/4-20 LH"),
        (ScrewThread.of(3e-3, 0.5e-3), "M3x0.5"),
        (ScrewThread.of(10e-3, 1.25e-3, -1), "M10x1.25 LH"),
        (ScrewThread.of(6.2e-3, 1.1e-3), "6.2 mm x 1.1 mm"),
    ],
)
def test_thread_has_the_designation_of_its_standard(thread, name):
    assert str(thread) == name


@given(
    st.sampled_from([(3e-3, 0.5e-3), (6e-3, 1e-3), (8e-3, 1.25e-3), (6.35e-3, 1.27e-3),
                     (6.35e-3, 25.4e-3 / 28), (7.9375e-3, 25.4e-3 / 18)]),
    st.sampled_from([(3e-3, 0.5e-3), (6e-3, 1e-3), (8e-3, 1.25e-3), (6.35e-3, 1.27e-3),
                     (6.35e-3, 25.4e-3 / 28), (7.9375e-3, 25.4e-3 / 18)]),
    st.sampled_from([1, -1]), st.sampled_from([1, -1]),
)  # fmt: skip
def test_only_equal_threads_fit(nut, bolt, nut_hand, bolt_hand):
    a, b = ScrewThread.of(*nut, nut_hand), ScrewThread.of(*bolt, bolt_hand)
    assert a.fits(b, 4.0) is (nut == bolt and nut_hand == bolt_hand) is b.fits(a, 4.0)


def test_rounded_sizes_of_a_file_fit():
    """An inch thread in mm; 5/16-18 has a pitch of 1.4111 mm."""
    exact = ScrewThread.of(0.3125 * INCH, INCH / 18.0)
    assert exact.fits(ScrewThread.of(7.94e-3, 1.41e-3), 5.0)
    assert not exact.fits(ScrewThread.of(7.94e-3, 1.39e-3), 5.0)


def test_mouth_and_tilt_of_a_quarter_inch_nut():
    """Between 6.7 and 7.3 mm across (ASME B18.2.2) and a tip of 4.8 mm; half a pitch per turn."""
    assert 0.9e-3 < QUARTER_20.mouth < 1.25e-3
    assert math.degrees(QUARTER_20.starting_tilt) == pytest.approx(5.71, abs=0.01)


def test_pitch_must_leave_a_core():
    with pytest.raises(SceneError, match=r"no core in a bolt of 6 mm; give at most 2\.7 mm"):
        ScrewThread.of(6e-3, 3e-3)


def test_pitch_in_metres_where_millimetres_are_meant_is_refused():
    with pytest.raises(SceneError, match=r"no thread has a pitch of 0\.00127 mm; .* unit"):
        ScrewThread.of(6.35e-3, 1.27e-6)


THREAD = ScrewThread.of(6.35e-3, 1.27e-3)
LEFT = ScrewThread.of(6e-3, 1e-3, -1)


def off_profile(thread, sizes, points, start):
    """Return how far the radii of points (k, 3) are off those of a thread [m]."""
    angles = np.arctan2(points[:, 1], points[:, 0])
    axial = points[:, 2] - thread.hand * thread.pitch * (angles - start) / (2.0 * math.pi)
    radii = [sizes.radius(float(u), thread.pitch) for u in axial]
    return np.abs(np.hypot(points[:, 0], points[:, 1]) - radii)


@pytest.mark.parametrize("thread", [THREAD, LEFT])
def test_pictures_have_the_profile_of_the_thread_and_face_outwards(thread):
    length, thickness, p = 12e-3, 5e-3, thread.pitch
    bolt, nut = bolt_picture(thread, length, 0.7), nut_picture(thread, 12e-3, thickness)
    inner = bolt[(bolt[:, 2] > p) & (bolt[:, 2] < length - 1e-9)]
    assert off_profile(thread, thread.external, inner, 0.7).max() < 1e-9
    groove = nut[np.abs(nut[:, 2]) < thickness / 2.0 - p] - (0.0, 0.0, thickness / 2.0)
    groove = groove[np.hypot(*groove[:, :2].T) < thread.countersink / 2.0]
    assert off_profile(thread, thread.internal, groove, 0.0).max() < 1e-9
    a, b, c = np.moveaxis(bolt.reshape(-1, 3, 3), 1, 0)
    outwards = np.einsum("ij,ij->i", np.cross(b - a, c - a)[:, :2], (a + b + c)[:, :2])
    assert np.percentile(outwards, 2) >= 0.0
    assert len(bolt) < 10_000  # a message, not a model

# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Pictures of bolts and nuts have the profile of their threads, and are small messages."""

import math

import numpy as np
import pytest
from arm_tasks.scene.screw_thread import ScrewThread
from arm_tasks.scene.thread_pictures import bolt_picture, nut_picture

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

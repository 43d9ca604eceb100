# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The pinhole model of a camera."""

import math

import numpy as np
from arm_viewer.browser.cameras import FIELD_OF_VIEW, axes_of


def pinhole(view, points):
    """Return the image coordinates of points, right and up, in halves of the picture's height."""
    x, y, z = np.array(axes_of(view.position - view.look_at)) @ (points - view.position).T
    assert z.min() > view.near
    return np.array([x, y]) / z / math.tan(0.5 * FIELD_OF_VIEW)

# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of the compiled errors against finite differences, in every combination."""

import math
from pathlib import Path

import numpy as np
import pytest
from arm_kinematics.ik.options import IkOptions, option_record
from arm_kinematics.ik.search_model import SearchModel
from arm_testing.arms.chains import shipped
from arm_testing.arms.header_functions import HeaderFunctions

FUNCTIONS = HeaderFunctions(Path(__file__).parents[2])

FREE = math.inf
CHAIN = shipped("puma560")
CONSTANTS = SearchModel(CHAIN).constants
BOXES = {
    "rotation vector": ("pose", 1e-5, (0.1, 0.2, 0.3)),
    "one roll": ("pose", 1e-5, (FREE, FREE, 0.3)),
    "tilt about two axes": ("pose", 1e-5, (0.1, FREE, 0.3)),
    "tilt of any axis": ("position_axis", 1e-5, (0.1, 0.1, 0.3)),
    "position alone": ("position", (0.1, FREE, 0.2), 1e-4),
    "both": ("pose", (0.1, 0.1, 0.2), (0.1, 0.2, 0.3)),
    "place and tilt": ("position_axis", (0.1, 0.1, 0.2), (0.1, 0.2, 0.3)),
}


@pytest.mark.parametrize("axes", ["target", "tool"])
@pytest.mark.parametrize("case", BOXES)
def test_derivatives_match_finite_differences(case, axes, rng):
    mode, place, turns = BOXES[case]
    axis = (1.0, 2.0, -1.0) if mode == "position_axis" else None
    turns = 1e-4 if mode == "position" else turns
    options = IkOptions(mode, place, turns, axis, axes, None, "nearest")
    opt = option_record(options, 1.0, CHAIN.joint_names)
    h = 1e-6
    for _ in range(20):
        q = rng.uniform(-2.0, 2.0, CHAIN.n)
        e, J = FUNCTIONS.residual(CONSTANTS, opt, q)
        if np.linalg.norm(e[3:]) > 2.2:  # near half a turn the rates are unbounded
            continue
        for k, step in enumerate(h * np.eye(CHAIN.n)):
            ahead, _ = FUNCTIONS.residual(CONSTANTS, opt, q + step)
            behind, _ = FUNCTIONS.residual(CONSTANTS, opt, q - step)
            counts = opt["weights"] > 0.0
            assert np.allclose(J[counts, k], ((ahead - behind) / (2 * h))[counts], atol=1e-6)

# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Shared fixtures: the shipped robots as chains."""

import pytest

from arm_description import RobotModel, load_robot
from arm_kinematics import Chain

ROBOTS = ("nut_arm", "planar2", "puma560")


@pytest.fixture(params=ROBOTS)
def model(request: pytest.FixtureRequest) -> RobotModel:
    return load_robot(request.param)


@pytest.fixture
def chain(model: RobotModel) -> Chain:
    return Chain.from_model(model)


@pytest.fixture
def nut_arm() -> Chain:
    return Chain.from_model(load_robot("nut_arm"))

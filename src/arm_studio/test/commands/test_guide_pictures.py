# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The pictures that the guide of linkages names."""

import re

import pytest
from arm_description.model.transmissions.transmission import Drivetrain
from arm_hardware.calibration.wizard.mechanisms import Mechanism
from arm_studio.commands import draw

from arm_description import load_robot, shipped_robots


@pytest.mark.parametrize("name", sorted(shipped_robots()))
def test_guide_names_pictures_that_can_be_drawn(name, monkeypatch):
    """Each shows a joint at 0, or at its limit beside 0, and pale at more."""
    model = load_robot(name)
    drawn = []
    monkeypatch.setattr(draw, "picture", lambda *given: drawn.append(given) or b"")
    monkeypatch.setattr(draw, "write_bytes", lambda *_: None)
    for actuator in Drivetrain.of(model).actuators:
        mechanism = Mechanism(model, actuator)
        lines = re.findall(r"draw (\S+ --joints .* \S+\.svg) draws", mechanism.guide())
        assert len(lines) == len(mechanism.joints)
        for line in lines:
            assert draw.main(line.split()) == 0
            _, values, _, style, _ = drawn[-1]
            (joint,) = style.ghost
            assert style.ghost[joint] > values[joint]
            at = model.joint_names.index(joint)
            if model.lower[at] <= 0.0 and model.upper[at] > 0.6 and not model.constraints:
                assert values[joint] == 0.0

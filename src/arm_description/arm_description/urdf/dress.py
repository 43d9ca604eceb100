# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a robot file adds to the skeleton: masses and meshes of links, and the payload."""

from __future__ import annotations

from dataclasses import replace

from ..elements import Origin, Payload
from ..model import RobotModel
from .inertia import DENSITY
from .parts import Shape, UrdfLink

PAYLOAD = "payload_link"


def dressed(model: RobotModel, link: UrdfLink, prefix: str) -> UrdfLink:
    """A link with the mesh and the mass that the robot file gives it."""
    name = link.name.removeprefix(prefix)
    return replace(
        link, mass=model.masses.get(name, link.mass), mesh=model.meshes.get(name, link.mesh)
    )


def payload_link(model: RobotModel, payload: Payload, prefix: str) -> UrdfLink:
    """The payload, in a frame that is tool0's; of no given size it weighs, and is not seen."""
    side = (payload.mass / DENSITY) ** (1 / 3)
    size = payload.size or (side, side, side)
    box = Shape("box", size, Origin(payload.centre), model.colours.gripper)
    seen = payload.size is not None
    return UrdfLink(prefix + PAYLOAD, (box,), mass=payload.mass, seen=seen)

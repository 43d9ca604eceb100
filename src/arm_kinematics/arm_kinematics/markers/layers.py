# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The table of what can be shown: each layer is a function, and what makes it change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from arm_kinematics.markers import ellipsoids, frames, ghosts, region, targets
from arm_kinematics.markers.mark import Mark
from arm_kinematics.markers.seen import Seen


class Cause(Enum):
    """What may have changed."""

    ROBOT = auto()
    JOINTS = auto()
    GOAL = auto()
    ANSWER = auto()
    REGION = auto()


@dataclass(frozen=True)
class Layer:
    """Marks that are switched on and off together.

    Attributes:
        draw: Makes them.
        causes: When they may look different; a new robot is one for all.
        text: What they are, for people.
        on: Whether they are shown at first.
    """

    draw: Callable[[Seen], list[Mark]]
    causes: tuple[Cause, ...]
    text: str
    on: bool = False


LAYERS = {
    "link_frames": Layer(frames.link_frames, (), "Frames of the links, with names."),
    "dh_frames": Layer(frames.dh_frames, (), "Frames dh_0 .. dh_n, if described, with names."),
    "joint_limits": Layer(frames.joint_limits, (), "Limits as arcs, with the present angle."),
    "text": Layer(targets.text, (Cause.JOINTS,), "Joint positions and the tip's coordinates."),
    "trace": Layer(targets.trace, (Cause.JOINTS,), "The tip's path, coloured by time."),
    "goal": Layer(ghosts.goal, (Cause.GOAL,), "Ghost where the arm goes to.", on=True),
    "target": Layer(
        targets.target, (Cause.ANSWER,), "Pose asked for, pose reached, residual.", on=True
    ),
    "branches": Layer(ghosts.branches, (Cause.ANSWER,), "Ghosts of all solutions asked for."),
    "reach": Layer(region.reach, (Cause.REGION,), "A slice through what the tip reaches."),
    "reach_circles": Layer(region.reach_circles, (), "Circles of reach of a planar arm."),
    "centres_of_mass": Layer(
        targets.centres_of_mass, (Cause.JOINTS,), "Centres of mass of links and of all."
    ),
    "manipulability_ellipsoid": Layer(
        ellipsoids.manipulability_ellipsoid,
        (Cause.JOINTS,),
        "Tip velocities at unit joint speeds.",
    ),
    "velocity_ellipsoid": Layer(
        ellipsoids.velocity_ellipsoid, (Cause.JOINTS,), "Tip velocities within the speed limits."
    ),
}

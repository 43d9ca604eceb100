# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The way out for jaws that stand about a bolt, as a task that was canceled leaves them."""

from __future__ import annotations

import math

from arm_kinematics.paths import screw

from arm_tasks.geometry import inverse, tilt_z
from arm_tasks.plan_builder import Labels, PlanBuilder
from arm_tasks.scene import Bolt, Scene
from arm_tasks.task_steps import Tolerance
from arm_tasks.tool_path import OutOfReach, along, wish

_ASIDE = 8e-3  # a tool so near to a bolt's axis [m]
_TILT = math.radians(20.0)  # and so much along it has its jaws about the bolt
_FREE = 0.02  # and is out of its way so far before its end [m]


def bolt_between_jaws(builder: PlanBuilder, scene: Scene) -> tuple[Bolt, float] | None:
    """Return the bolt that the jaws stand about, and how far they have to draw back [m]."""
    T_tool = builder.chain.fk(builder.q)
    for bolt in scene.bolts.values():
        bolt_tool = inverse(bolt.pose) @ T_tool
        x, y, z = (float(v) for v in bolt_tool[:3, 3])
        about = math.hypot(x, y) < _ASIDE and -_FREE < z < bolt.length
        if about and tilt_z(bolt_tool[:3, :3]) < _TILT:
            return bolt, z + _FREE
    return None


def draw_back(builder: PlanBuilder, scene: Scene, labels: Labels) -> bool:
    """Plan the way straight off a bolt that is between the jaws; return whether there is one.

    The jaws stay as they are: a nut on the thread stays there and lets them slide off, a free one
    goes with them.
    """
    found = bolt_between_jaws(builder, scene)
    if found is None:
        return False
    bolt, way = found
    here = builder.chain.fk(builder.q)
    try:
        path = along(
            builder.chain, screw(here, -way, 0.0), builder.q, wish("axis", Tolerance(tilt=_TILT))
        )
    except OutOfReach:
        return False
    name = f"{labels.name}: draw back"
    message = f"drawing back from {bolt.name}"
    with builder.touches(bolt.name):
        builder.motion(Labels(labels.source, name, message), path.positions)
    return True

# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Verbs -> tasks of one step, as text of the task language: one way to plan, check and move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import yaml

Orientation = Literal["full", "axis", "any"]
XYZ = Sequence[float]


def task_text(kind: str, **keys: Any) -> str:
    """Return a task of one step; keys that are None are left out."""
    body = {key: value for key, value in keys.items() if value is not None}
    task = {"task": kind, "steps": [{kind: body}]}
    return str(yaml.safe_dump(task, sort_keys=False))


def joints_text(joints: Mapping[str, float], speed: float | None) -> str:
    """Return the task that moves some joints [rad or m]."""
    positions = {name: float(value) for name, value in joints.items()}
    return task_text("move_joints", joints=positions, speed=speed)


def pose_text(
    kind: Literal["move_pose", "move_linear"],
    xyz: XYZ,
    rpy: XYZ | None,
    frame: str,
    orientation: Orientation | None,
    speed: float | None,
) -> str:
    """Return the task that moves the tool to a place [m], turned by rpy [rad].

    Without rpy any orientation will do, unless it is asked for.
    """
    return task_text(
        kind,
        frame=frame,
        xyz=[float(value) for value in xyz],
        rpy=None if rpy is None else [float(value) for value in rpy],
        orientation=orientation or ("any" if rpy is None else "full"),
        speed=speed,
    )

# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Judges a run by poses alone: where payloads lie, and how straight the tool moved."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from arm_common.transforms import Array

from arm_tasks.planning.plan import TaskPlan
from arm_tasks.scene.payloads import rest
from arm_tasks.scene.scene import Scene

_AT_REST = 1e-3  # largest distance from where it would fall, for something that lies there [m]


def lies_on(scene: Scene, name: str) -> str:
    """Return what a payload lies on, "" if it does not lie but hangs in the air.

    Args:
        scene: With the payload where it is now.
        name: The payload.
    """
    landed, on = rest(scene, name)
    off = np.linalg.norm(landed[:3, 3] - scene.thing(name).pose[:3, 3])
    return on if off < _AT_REST else ""


def off_lines(plan: TaskPlan, track: Iterable[tuple[int, Array]]) -> float:
    """Return the largest distance of the tool from the straight lines of a plan [m].

    Args:
        plan: What was run.
        track: Index of the running step and joint positions (n,), sampled. The index may be a
            little late or early, so the lines of the steps before and after count too.
    """
    worst = 0.0
    for index, q in track:
        steps = plan.steps[max(index - 1, 0) : index + 2]
        if 0 <= index < len(plan.steps) and plan.steps[index].line is not None:
            point = plan.request.chain.fk(q)[:3, 3]
            ends = [step.line[:, :3, 3] for step in steps if step.line is not None]
            worst = max(worst, min(_distance(point, a, b) for a, b in ends))
    return worst


def _distance(point: Array, start: Array, end: Array) -> float:
    """Return the distance of a point (3,) from a line between two points (3,) [m]."""
    along = end - start
    share = (point - start) @ along / max(float(along @ along), 1e-18)
    return float(np.linalg.norm(point - start - np.clip(share, 0.0, 1.0) * along))

# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Two parallel jaws and a hexagon: when does closing them hold the nut, and if not, why."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from arm_tasks.geometry import Array, inverse, tilt_z
from arm_tasks.scene import Nut

SIXTH = math.pi / 3.0


@dataclass(frozen=True)
class GripRules:
    """How forgiving the jaws are; lengths [m], angles [rad].

    The numbers are chosen for flat pads about 10 mm square on the fingers of a hobby gripper; they
    are assumptions of the simulation, not measurements.

    Attributes:
        opening_axis: Direction (3,) in tool0 along which the jaws move.
        pad_half: Half the pads' length along the tool's z: the nut's centre must be within it to
            be gripped, and the nut may slide so far along the pads before it is lost.
        off_axis: Largest distance of the nut's axis from the tool's, when gripped.
        tilt: Largest angle between the two axes, when gripped.
        flats: Largest angle between jaws and flats; the nut or the jaws then settle.
        close_gap: The nut is gripped when the width comes down to across_flats and this.
        open_gap: The nut is let go when the width goes up to across_flats and this.
        held_off_axis: A grip on a nut that the thread holds is lost beyond this distance,
        held_tilt: or beyond this angle between tool and bolt.
    """

    opening_axis: tuple[float, float, float] = (0.0, 1.0, 0.0)
    pad_half: float = 5e-3
    off_axis: float = 2.5e-3
    tilt: float = math.radians(12.0)
    flats: float = math.radians(15.0)
    close_gap: float = 0.3e-3
    open_gap: float = 0.6e-3
    held_off_axis: float = 3e-3
    held_tilt: float = math.radians(20.0)


@dataclass(frozen=True)
class GripCheck:
    """What closing the jaws does.

    Attributes:
        held: True if the nut is in the grip.
        settle: By how much the nut would have to roll about its own z for its flats to lie on the
            jaws [rad].
        near: False if the jaws close nowhere near the nut.
        reason: Why the nut is missed; "" if it is held.
    """

    held: bool
    settle: float = 0.0
    near: bool = True
    reason: str = ""


def check_grip(T_tool: Array, T_nut: Array, nut: Nut, rules: GripRules) -> GripCheck:
    """Decide whether jaws that close now hold the nut.

    Args:
        T_tool: base_link <- tool0 (4, 4) [m].
        T_nut: base_link <- nut (4, 4) [m].
        nut: Its size.
        rules: The tolerances.

    Returns:
        Held or missed, and why.
    """
    tool_nut = inverse(T_tool) @ T_nut
    x, y, z = (float(v) for v in tool_nut[:3, 3])
    off = math.hypot(x, y)
    near = math.hypot(off, z) < 2.0 * nut.across_flats
    tilt = tilt_z(tool_nut[:3, :3])
    tilt = min(tilt, math.pi - tilt)
    settle = _settle(tool_nut, rules)
    checks = (
        (abs(z), rules.pad_half, "its centre is {:.1f} mm along the tool from the pads", 1e3),
        (off, rules.off_axis, "its axis is {:.1f} mm beside the tool's", 1e3),
        (tilt, rules.tilt, "its axis is tilted by {:.1f} deg from the tool's", 180.0 / math.pi),
        (abs(settle), rules.flats, "its flats are {:.1f} deg off the jaws", 180.0 / math.pi),
    )
    for value, most, text, scale in checks:
        if value > most:
            said = f"{text.format(value * scale)}, at most {most * scale:.1f} is possible"
            return GripCheck(False, near=near, reason=said)
    return GripCheck(True, settle)


def _settle(tool_nut: Array, rules: GripRules) -> float:
    """Return the roll about the nut's z that lays the nearest flat on the jaws [rad]."""
    jaws = tool_nut[:3, :3].T @ np.array(rules.opening_axis)
    return math.remainder(math.atan2(float(jaws[1]), float(jaws[0])), SIXTH)

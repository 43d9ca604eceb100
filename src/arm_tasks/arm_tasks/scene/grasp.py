# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Grip of a hexagon nut by two parallel jaws: whether it holds and why not."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array, inverse, pose, so3_exp, tilt_z, turn_z, twist_z

from arm_tasks.scene.scene import Nut

SIXTH = math.pi / 3.0


@dataclass(frozen=True)
class GripRules:
    """Tolerances of a grip and compliance of the arm; lengths [m], angles [rad].

    Chosen for flat pads, 10 mm long and 9 mm wide, of a hobby gripper on a compliant arm: a servo
    of 0.9 N m that reaches its full torque at an error of 5 degrees has a stiffness of 10 N m/rad,
    or 250 N/m at a lever of 0.2 m. So 1 N moves the tool by 4 mm, and jaws that squeeze with about
    10 N pull it over a nut on a bolt. These are assumptions, not measurements. In contact physics
    (./arm bench contact_rules) jaws of friction 0.8 tolerate more, as each line says; pads of a
    real gripper may be worse, so the rules stay on the safe side. The jaws open along the tool's
    y; the width of the pads is along its x.
    """

    # largest distance of the nut's centre from that of the pads along the tool, even when it
    # slides along them: part of the nut is still between them; physics: 6 mm turn it, 8 mm do not
    pad_half: float = 6e-3
    # largest distance of the nut's axis from the middle of the pads; physics: 7 mm
    pad_side: float = 3.5e-3
    # largest distance of the nut's axis from the middle of the jaws along the opening: the arm
    # yields that far, or the free nut is pushed; physics: 5 mm, with 2 N/mm and with 0.25 N/mm
    centring: float = 3.5e-3
    # largest angle between the axes of nut and tool for a grip; physics: 30 deg about either axis
    tilt: float = math.radians(12.0)
    # largest angle between jaws and flats, which then settle; physics: any
    flats: float = math.radians(15.0)
    close_gap: float = 0.3e-3  # the nut is gripped at a width of across_flats plus this
    open_gap: float = 0.6e-3  # the nut is released at a width of across_flats plus this
    held_off_axis: float = (
        4.5e-3  # largest lateral distance of the tool from a held nut on a thread
    )
    held_tilt: float = math.radians(20.0)  # largest angle between tool and bolt for a held nut
    give: float = 4e-3  # the arm yields this far along the bolt before the nut slides in the jaws


GRIP = GripRules()


@dataclass(frozen=True)
class GripCheck:
    """Result of closing the jaws."""

    held: bool
    settle: float = 0.0  # roll of the nut about its z that aligns its flats with the jaws [rad]
    near: bool = True  # whether the jaws close near the nut
    reason: str = ""  # why the nut is missed; "" if it is held


def check_grip(T_tool: Array, T_nut: Array, nut: Nut, opened: float = math.inf) -> GripCheck:
    """Return whether closing the jaws now grips the nut, and if not, why.

    The tool is at base_link <- tool0, the nut at base_link <- nut (4, 4) [m]. The jaws miss a nut
    that does not fit between them; they close from the width opened [m].
    """
    tool_nut = inverse(T_tool) @ T_nut
    x, y, z = (float(v) for v in tool_nut[:3, 3])
    near = math.hypot(x, y, z) < 2.0 * nut.across_flats
    tilt = tilt_z(tool_nut[:3, :3])
    tilt = min(tilt, math.pi - tilt)
    settle = _settle(tool_nut)
    aside = min(GRIP.centring, (opened - nut.across_flats) / 2.0)
    checks = (
        (abs(z), GRIP.pad_half, "its centre is {:.1f} mm along the tool from the pads", 1e3),
        (abs(y), aside, "its axis is {:.1f} mm beside the jaws' middle", 1e3),
        (abs(x), GRIP.pad_side, "its axis is {:.1f} mm beside the pads' middle", 1e3),
        (tilt, GRIP.tilt, "its axis is tilted by {:.1f} deg from the tool's", 180.0 / math.pi),
        (abs(settle), GRIP.flats, "its flats are {:.1f} deg off the jaws", 180.0 / math.pi),
    )
    for value, most, text, scale in checks:
        if value > most:
            reason = f"{text.format(value * scale)}; at most {most * scale:.1f} is possible"
            return GripCheck(False, near=near, reason=reason)
    return GripCheck(True, settle)


def seated(T_tool: Array, T_nut: Array) -> Array:
    """Return tool0 <- nut (4, 4) of a free nut in the closed jaws [m].

    Flat pads centre the nut and align its flats; its position along the pads and its tilt between
    them stay as they were.
    """
    tool_nut = inverse(T_tool) @ T_nut
    R, (x, _, z) = tool_nut[:3, :3], tool_nut[:3, 3]
    lean = math.atan2(float(R[0, 2]), float(R[2, 2]))
    upright = so3_exp(np.array([0.0, lean, 0.0]))
    roll = twist_z(R) + _settle(tool_nut)
    at = (float(x), 0.0, min(max(float(z), -GRIP.pad_half), GRIP.pad_half))
    return pose(upright, at) @ turn_z(roll)


def _settle(tool_nut: Array) -> float:
    """Return the roll about the nut's z that aligns the nearest flat with the jaws [rad]."""
    x, y = (float(v) for v in tool_nut[1, :2])  # the opening's direction, in the nut
    return math.remainder(math.atan2(y, x), SIXTH)

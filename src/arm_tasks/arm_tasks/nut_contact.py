# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A free nut in the gripper against the end of a bolt: touch, push back, catch the thread."""

from __future__ import annotations

import math
from dataclasses import dataclass

from arm_tasks.geometry import Array, inverse, tilt_z, twist_z, wrap
from arm_tasks.scene import Bolt, Nut
from arm_tasks.thread import TURN

_TOUCH = 1e-5  # faces nearer than this touch [m]
_EXACT = 1e-9  # a start that was left by rounding alone counts as not passed [turns]
_SIDE_DEPTH = 5e-4  # a nut that is further in without having come over the end came from the side


@dataclass(frozen=True)
class ContactRules:
    """When a thread catches; lengths [m], angles [rad].

    A bolt's chamfered tip, about the minor diameter (4.9 mm for 1/4-20), finds its way into a
    nut's countersink (1.05 to 1.15 times the major diameter, ASME B18.2.2: about 7 mm) from 1 mm
    aside; half a millimetre more is taken for the give of jaws and arm, an assumption.

    Attributes:
        off_axis: Largest distance of the nut's axis from the bolt's for the thread to catch.
        tilt: Largest angle between the two for the thread to catch.
    """

    off_axis: float = 1.5e-3
    tilt: float = math.radians(5.0)


@dataclass(frozen=True)
class Contact:
    """How the nut stands to one bolt.

    Attributes:
        overlap: How far the nut's front face is past the bolt's free end [m]; negative before it.
        off_axis: Distance of the nut's centre from the bolt's axis [m].
        tilt: Angle between the two axes [rad].
        roll: The nut's roll about the bolt's z [rad].
        beside: True if the nut passes by the bolt's end without meeting it.
    """

    overlap: float
    off_axis: float
    tilt: float
    roll: float
    beside: bool

    @property
    def touching(self) -> bool:
        """True if the nut's face is on the bolt's end, or past it."""
        return not self.beside and self.overlap >= -_TOUCH

    @property
    def struck(self) -> bool:
        """True if the nut is deeper than a step of motion over the end can explain."""
        return not self.beside and self.overlap > _SIDE_DEPTH


def contact_with(bolt: Bolt, nut: Nut, T_nut: Array) -> Contact:
    """Return how a nut at base_link <- nut (4, 4) stands to a bolt."""
    bolt_nut = inverse(bolt.pose) @ T_nut
    x, y, z = (float(v) for v in bolt_nut[:3, 3])
    off = math.hypot(x, y)
    beyond = z - nut.thickness / 2.0 > bolt.length
    beside = beyond or off > (nut.across_flats + bolt.diameter) / 2.0
    R = bolt_nut[:3, :3]
    return Contact(z + nut.thickness / 2.0, off, tilt_z(R), twist_z(R), beside)


def turns_past_start(bolt: Bolt, before: Contact, now: Contact) -> float | None:
    """Return how many turns the nut went past the place where the thread catches.

    Args:
        bolt: The bolt that the nut touches, before and now.
        before: Contact one step ago.
        now: Contact now.

    Returns:
        Turns past the start, 0 or a little more; None if it was not passed in the direction
        that screws on.
    """
    turned = bolt.thread.turns_by(wrap(now.roll - before.roll))
    if turned <= 0.0:
        return None
    to_go = (bolt.hand * (bolt.start - before.roll) / TURN) % 1.0
    to_go = 0.0 if to_go > 1.0 - _EXACT else to_go
    return turned - to_go if turned >= to_go else None


def why_not(contact: Contact, rules: ContactRules) -> str:
    """Return why the thread does not catch here, or "" if it does."""
    if contact.off_axis > rules.off_axis:
        off, most = contact.off_axis * 1e3, rules.off_axis * 1e3
        return f"its axis is {off:.1f} mm beside the bolt's, at most {most:.1f} is possible"
    if contact.tilt > rules.tilt:
        tilt, most = math.degrees(contact.tilt), math.degrees(rules.tilt)
        return f"it is tilted by {tilt:.1f} deg, at most {most:.1f} is possible"
    return ""

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
    """When a nut finds the end of a bolt and its thread catches; lengths [m], angles [rad].

    A bolt's tip is chamfered to below the minor diameter (4.8 mm for 1/4-20, ASME B18.2.1), a nut
    countersunk to 1.05 to 1.15 times the major diameter (6.7 to 7.3 mm, ASME B18.2.2): a tip that
    is less than half the difference aside is inside the mouth, and pressing centres it.

    Attributes:
        mouth: So far aside the tip still is inside the countersink.
        friction: Coefficient, of steel on steel; also how far the nut lags behind an arm as soft
            across as along, for each metre that it is pressed.
        slope: Of the countersink's cone against the nut's face; 120 degrees across.
        seat_tilt: Largest angle between the axes at which the tip finds the mouth.
        tilt: Largest angle at which the thread starts straight. Beyond it a crest lies nearer to
            the next groove: half a pitch over the diameter, 5.7 degrees for 1/4-20.
        slip: A nut that is threaded across is turned so far before it is stuck [turns].
    """

    mouth: float = 1.1e-3
    friction: float = 0.2
    slope: float = math.radians(30.0)
    seat_tilt: float = math.radians(15.0)
    tilt: float = math.radians(5.7)
    slip: float = 0.25

    def hold(self, pressed: float) -> float:
        """Return how far aside a seated nut may be pulled, pressed so far by a soft arm [m]."""
        return self.mouth + pressed * math.tan(self.slope + math.atan(self.friction))


@dataclass(frozen=True)
class Contact:
    """How the nut stands to one bolt.

    Attributes:
        overlap: How far the nut's front face is past the bolt's free end [m]; negative before it.
        off_axis: Distance of the nut's centre from the bolt's axis [m].
        tilt: Angle between the two axes [rad].
        roll: The nut's roll about the bolt's z [rad].
        beside: True if the nut passes by the bolt's end without meeting it.
        aside: (x, y) of the nut's centre in the bolt's frame [m].
    """

    overlap: float
    off_axis: float
    tilt: float
    roll: float
    beside: bool
    aside: tuple[float, float]

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
    return Contact(z + nut.thickness / 2.0, off, tilt_z(R), twist_z(R), beside, (x, y))


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

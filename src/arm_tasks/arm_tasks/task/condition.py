# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Conditions, evaluated while the task runs.

Those of `if`, `until` and `wait_until` are of one kind: on nut, arm, and values of other nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from arm_common.yaml.schema_types import Key, Leaf, ListOf, Named

from arm_tasks.scene.file import LENGTH, NUMBER, TEXT
from arm_tasks.scene.nut_state import NutReport, NutStatus
from arm_tasks.task.signal import Signal

POSITION = Leaf("rad or m, or deg with _deg", "number", "_deg")
SCALAR = Leaf("number, text, or true or false", "scalar")
TRUTH = Leaf("true or false", "truth")
CONTENT = Named(Leaf("value, list or mapping", "data"), "field")
CONDITION = {
    "nut_on": Key(TEXT, "the nut is on this bolt"),
    "turns": Key(NUMBER, "engaged by at least this many turns"),
    "nut_held": Key(TRUTH, "whether the jaws hold the nut"),
    "nut_fallen": Key(TRUTH, "whether the nut lies on the floor"),
    "gripper_above": Key(LENGTH, "the jaws are wider than this"),
    "gripper_below": Key(LENGTH, "the jaws are narrower than this"),
    "joint": Key(TEXT, "a joint, with the next two keys"),
    "joint_above": Key(POSITION, "its position is above this"),
    "joint_below": Key(POSITION, "its position is below this"),
    "measured": Key(
        TRUTH, "true: a width or position that is commanded, not measured, fails the step"
    ),
    "topic": Key(TEXT, "a topic, relative to the namespace of the task server"),
    "service": Key(TEXT, "a service, likewise; wait_until calls it again until it answers so"),
    "request": Key(CONTENT, "fields of the request to the service"),
    "frames": Key(ListOf(TEXT, 2, 2), "two frames of tf, whose distance is compared"),
    "field": Key(
        TEXT, "of topic or service: path of a field, as in pose.position.x or position[2]"
    ),
    "equals": Key(SCALAR, "the field has this value, or that of a constant of the message type"),
    "above": Key(NUMBER, "the field is above this, the distance above this many m"),
    "below": Key(NUMBER, "the field is below this, the distance below this many m"),
    "type": Key(
        TEXT,
        "type of topic or service, to check it even if it does not exist yet; that of its "
        "publishers or servers if omitted",
    ),
}


@dataclass(frozen=True)
class Observation:
    """The world at one moment."""

    nut: NutReport | None = None  # the nut, None if unknown
    width: float | None = None  # between the jaws [m], None if unknown
    joints: Mapping[str, float] = field(default_factory=dict)  # positions by name [rad or m]
    measured: bool = False  # whether width and joints are measured, not only commanded


@dataclass(frozen=True)
class Condition:
    """A conjunction of all fields that are not None or ""."""

    nut_on: str = ""  # bolt that the nut is on
    turns: float | None = None  # at least this many turns
    nut_held: bool | None = None  # whether the jaws hold the nut
    nut_fallen: bool | None = None  # whether it lies on the floor
    gripper_above: float | None = None  # the jaws are wider [m]
    gripper_below: float | None = None  # the jaws are narrower [m]
    joint: str = ""  # joint that the next two are about
    joint_above: float | None = None  # its position is above this [rad or m]
    joint_below: float | None = None  # its position is below this [rad or m]
    measured: bool = False  # whether width and joint have to be measured
    signal: Signal | None = None  # a value of other nodes

    @property
    def problem(self) -> str:
        """Why it can never be evaluated, or ""."""
        bounds = self.joint_above is not None or self.joint_below is not None
        if self.turns is not None and not self.nut_on:
            return "turns need a bolt; give nut_on, too"
        if bool(self.joint) != bounds:
            return "give joint together with joint_above or joint_below"
        if _none_between(self.gripper_above, self.gripper_below):
            return "no width is both above gripper_above and below gripper_below"
        if _none_between(self.joint_above, self.joint_below):
            return "no position is both above joint_above and below joint_below"
        if self.nut_fallen and (self.nut_held or self.nut_on):
            return "a fallen nut is neither held nor on a bolt"
        if self.measured and not (self.needs_width or self.joint):
            return "measured is for gripper_above, gripper_below and joint"
        return self.signal.problem if self.signal else ""

    @property
    def needs_nut(self) -> bool:
        """True if it depends on the nut."""
        return bool(self.nut_on) or self.nut_held is not None or self.nut_fallen is not None

    @property
    def needs_width(self) -> bool:
        """True if it depends on the width of the jaws."""
        return self.gripper_above is not None or self.gripper_below is not None

    def missing(self, observed: Observation) -> str:
        """Return what an observation lacks, or ""."""
        if self.needs_nut and observed.nut is None:
            return "the position of the nut is unknown"
        if self.needs_width and observed.width is None:
            return "the width of the jaws is unknown"
        if self.joint and self.joint not in observed.joints:
            return f"the position of the joint {self.joint} is unknown"
        if self.measured and not observed.measured:
            return "it is commanded, not measured: the servos do not answer"
        return ""

    def holds(self, observed: Observation) -> bool:
        """Return whether all parts but the signal hold, none if its observation is missing."""
        if self.missing(observed):
            return False
        if self.joint:
            at = observed.joints[self.joint]
            over = self.joint_above is None or at > self.joint_above
            if not (over and (self.joint_below is None or at < self.joint_below)):
                return False
        nut, width = observed.nut, observed.width or 0.0
        above = self.gripper_above is None or width > self.gripper_above
        below = self.gripper_below is None or width < self.gripper_below
        if nut is None:
            return above and below
        engaged = nut.bolt == self.nut_on and nut.turns_engaged >= (self.turns or 0.0)
        held = self.nut_held in (None, nut.grasped)
        fallen = self.nut_fallen in (None, nut.status is NutStatus.FALLEN)
        return above and below and held and fallen and (engaged or not self.nut_on)

    def __str__(self) -> str:
        """Return the condition as a clause."""
        parts = [f"the nut is on {self.nut_on}"] if self.nut_on else []
        if self.turns is not None:
            parts[-1] += f" by {self.turns:g} turns"
        if self.nut_held is not None:
            parts.append(f"the nut is {'' if self.nut_held else 'not '}held")
        if self.nut_fallen is not None:
            parts.append(f"the nut has {'' if self.nut_fallen else 'not '}fallen")
        if self.gripper_above is not None:
            parts.append(f"the jaws are wider than {self.gripper_above * 1e3:g} mm")
        if self.gripper_below is not None:
            parts.append(f"the jaws are narrower than {self.gripper_below * 1e3:g} mm")
        bounds = (("above", self.joint_above), ("below", self.joint_below))
        parts += [f"{self.joint} is {w} {v:.4g}" for w, v in bounds if v is not None]
        parts += [str(self.signal)] if self.signal else []
        return " and ".join(parts)


def _none_between(above: float | None, below: float | None) -> bool:
    return above is not None and below is not None and above >= below

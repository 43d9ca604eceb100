# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Conditions, evaluated while the task runs.

Those of `if`, `until` and `wait_until` are of one kind: on nut, arm, and values of other nodes:
of a topic, of a service's answer, or a distance by tf.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as own_field
from typing import Any, TypeAlias

from arm_common.suggestions import did_you_mean
from arm_common.yaml.schema_types import Key, Leaf, ListOf, Named
from arm_description.model.units import mm

from arm_tasks.errors import PlanError
from arm_tasks.scene.file import LENGTH, NUMBER, TEXT
from arm_tasks.scene.nut_state import NutReport, NutStatus

Value: TypeAlias = float | str | bool

_PATH = re.compile(r"[a-zA-Z]\w*(\[\d+\])?(\.[a-zA-Z]\w*(\[\d+\])?)*")
_LIST = re.compile(r"sequence<(.+?)(?:, \d+)?>|(.+)\[\d+\]")  # of the type of a field
_KINDS = {bool: "true or false", float: "a number", str: "text"}
POSITION = Leaf("rad or m", suffix="_deg")
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
        TRUTH, "a width or position that is commanded, not measured, fails the step", default=False
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
class MessageType:
    """Fields and constants of a message."""

    fields: Mapping[str, str]  # field name -> its type, as in `sequence<double>`
    constants: Mapping[str, Value]  # constant name -> value


MessageTypes: TypeAlias = Callable[[str], MessageType | None]
"""Returns a message type by its name, such as `std_msgs/msg/Bool`; None if it is not installed."""


@dataclass(frozen=True)
class Reading:
    """What is known about a condition at one moment."""

    holds: bool
    reason: str = ""  # why it does not hold, a clause
    failed: bool = False  # whether it can never hold
    known: bool = True  # False while there is no value yet


@dataclass(frozen=True)
class Signal:
    """A condition on one value of other nodes.

    It is a field of the newest message of a topic, a field of a service's answer, or the distance
    of two frames of tf.
    """

    topic: str = ""  # name, relative to the namespace of the task server or absolute
    service: str = ""  # likewise, of a service that is called until the condition holds
    request: Mapping[str, Any] = own_field(default_factory=dict)  # fields of its request
    frames: tuple[str, ...] = ()  # two frames of tf, whose distance [m] is compared
    field: str = ""  # path such as `pose.position.x` or `position[2]`; "" for a distance
    type: str = ""  # type of topic or service; "" for that of its publishers or servers
    equals: Value | None = None  # a number, a text, true or false
    above: float | None = None
    below: float | None = None

    @property
    def source(self) -> str:
        """What it is about: the name of a topic or service, or the frames."""
        return self.topic or self.service or " and ".join(self.frames)

    @property
    def problem(self) -> str:
        """Why it can never be evaluated, whatever the other nodes are; or ""."""
        if sum(map(bool, (self.topic, self.service, self.frames))) != 1:
            return "give one of topic, service and frames"
        bounds = self.above is not None or self.below is not None
        if (self.equals is not None) == bounds or (self.frames and not bounds):
            either = "" if self.frames else "either equals, or "
            return f"give {either}above and below"
        if _none_between(self.above, self.below):
            return f"no value is above {self.above:g} and below {self.below:g}"
        if self.frames:
            both = len(set(self.frames)) == 2 and not (self.field or self.type)
            return "" if both else "frames are two names of frames, without field and type"
        if not _PATH.fullmatch(self.field):
            return f"field '{self.field}' is not a path such as pose.position.x or position[2]"
        example = "std_msgs/msg/Bool" if self.topic else "std_srvs/srv/Trigger"
        what = example.split("/")[1]
        if self.type and not re.fullmatch(rf"\w+/({what}/)?\w+", self.type):
            return f"type '{self.type}' is not a type such as {example}"
        return ""

    def resolved(self, type_name: str, types: MessageTypes) -> Signal:
        """Return the condition for a message of a type, with a constant replaced by its value.

        Raises:
            PlanError: The type is not the expected one or not installed, or it has no such field,
                or the field's value is of another kind.
        """
        kind, owner = _kind_of(self.field, full_type(type_name), types)
        if self.equals is None:
            if kind is not float:
                raise PlanError(f"{self.field} is {_KINDS[kind]}; above and below need a number")
            return self
        equals = self.equals
        if kind is float and isinstance(equals, str):
            if equals not in owner.constants:
                known = did_you_mean(equals, owner.constants) if owner.constants else ""
                what = f"{self.field} is a number, but equals is '{equals}'"
                raise PlanError(f"{what}; {known}" if known else what)
            equals = owner.constants[equals]
        if not isinstance(equals, kind):
            raise PlanError(f"{self.field} is {_KINDS[kind]}, but equals is {_text(equals)}")
        return replace(self, equals=equals)

    def read(self, message: Any) -> Reading:
        """Evaluate a resolved condition on a message."""
        value = message
        for name, index in _parts(self.field):
            value = getattr(value, name)
            if index is not None:
                if index >= len(value):
                    return Reading(False, f"{name} has {len(value)} elements")
                value = value[index]
        return self.compare(value[0] if isinstance(value, bytes) else value)  # a `byte`

    def compare(self, value: Value) -> Reading:
        """Evaluate the condition on its value."""
        holds = (
            value == self.equals
            if self.equals is not None
            else (self.above is None or value > self.above)  # type: ignore[operator]
            and (self.below is None or value < self.below)  # type: ignore[operator]
        )
        return Reading(bool(holds), "" if holds else f"it is {_text(value)}")

    def __str__(self) -> str:
        """Return the condition as a clause."""
        if self.frames:
            place, scale, unit = f"the distance of {self.source}", 1e3, " mm"
        else:
            place, scale, unit = f"{self.field} of {self.source}", 1.0, ""
        if self.equals is not None:
            return f"{place} is {_text(self.equals)}"
        bounds = (("above", self.above), ("below", self.below))
        texts = [f"{w} {scale * v:g}{unit}" for w, v in bounds if v is not None]
        return f"{place} is {' and '.join(texts)}"


def full_type(name: str, kind: str = "msg") -> str:
    """Return the name of a message type with `/msg/`, or of another kind."""
    return name if name.count("/") > 1 else name.replace("/", f"/{kind}/")


def _parts(path: str) -> Iterator[tuple[str, int | None]]:
    """Yield the names of a path, each with its index or None."""
    for part in path.split("."):
        name, _, index = part.partition("[")
        yield name, int(index[:-1]) if index else None


def _kind_of(path: str, type_name: str, types: MessageTypes) -> tuple[type, MessageType]:
    """Return the kind of value of a field (float, str or bool), and the message that has it."""
    kind, owner = type_name, MessageType({}, {})
    for name, index in _parts(path):
        if "/" not in kind:
            raise PlanError(f"{path}: a {kind} has no field '{name}'")
        found = types(full_type(kind))
        if found is None:
            raise PlanError(f"the message type {kind} is not installed")
        if name not in found.fields:
            raise PlanError(f"{kind} has no field '{name}'; {did_you_mean(name, found.fields)}")
        owner, kind = found, found.fields[name]
        element = _LIST.fullmatch(kind)
        if element is None and index is not None:
            raise PlanError(f"{name} is not a list, it is a {kind}")
        if element is not None:
            if index is None:
                raise PlanError(f"{name} is a list; give an index, as in {name}[0]")
            kind = element[1] or element[2]
    if "/" in kind:
        raise PlanError(f"{path} is of the type {kind}; name one of its fields")
    word = kind.partition("<")[0]
    return {"boolean": bool, "string": str, "wstring": str}.get(word, float), owner


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"'{value}'" if isinstance(value, str) else f"{value:g}"


@dataclass(frozen=True)
class Observation:
    """The world at one moment."""

    nut: NutReport | None = None  # the nut, None if unknown
    width: float | None = None  # between the jaws [m], None if unknown
    joints: Mapping[str, float] = own_field(default_factory=dict)  # positions by name [rad or m]
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
            parts.append(f"the jaws are wider than {mm(self.gripper_above)}")
        if self.gripper_below is not None:
            parts.append(f"the jaws are narrower than {mm(self.gripper_below)}")
        bounds = (("above", self.joint_above), ("below", self.joint_below))
        parts += [f"{self.joint} is {w} {v:.4g}" for w, v in bounds if v is not None]
        parts += [str(self.signal)] if self.signal else []
        return " and ".join(parts)


def _none_between(above: float | None, below: float | None) -> bool:
    return above is not None and below is not None and above >= below

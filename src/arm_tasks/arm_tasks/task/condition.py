# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Conditions, evaluated while the task runs.

Those of `if` and `until` are on the nut and the jaws, those of `wait_until` on one field of the
messages of a topic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from arm_common.suggestions import did_you_mean

from arm_tasks.errors import PlanError
from arm_tasks.scene.nut_state import NutReport, NutStatus

Value: TypeAlias = float | str | bool

_PATH = re.compile(r"[a-zA-Z]\w*(\[\d+\])?(\.[a-zA-Z]\w*(\[\d+\])?)*")
_LIST = re.compile(r"sequence<(.+?)(?:, \d+)?>|(.+)\[\d+\]")  # of the type of a field
_KINDS = {bool: "true or false", float: "a number", str: "text"}


@dataclass(frozen=True)
class Observation:
    """The world at one moment."""

    nut: NutReport | None = None  # the nut, None if unknown
    width: float | None = None  # between the jaws [m], None if unknown


@dataclass(frozen=True)
class Condition:
    """A conjunction of all fields that are not None or ""."""

    nut_on: str = ""  # bolt that the nut is on
    turns: float | None = None  # at least this many turns
    nut_held: bool | None = None  # whether the jaws hold the nut
    nut_fallen: bool | None = None  # whether it lies on the floor
    gripper_above: float | None = None  # the jaws are wider [m]
    gripper_below: float | None = None  # the jaws are narrower [m]

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
        return ""

    def holds(self, observed: Observation) -> bool:
        """Return whether all parts hold; none holds if its observation is missing."""
        if self.missing(observed):
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
        return " and ".join(parts)


@dataclass(frozen=True)
class MessageType:
    """Fields and constants of a message."""

    fields: Mapping[str, str]  # field name -> its type, as in `sequence<double>`
    constants: Mapping[str, Value]  # constant name -> value


MessageTypes: TypeAlias = Callable[[str], MessageType | None]
"""Returns a message type by its name, such as `std_msgs/msg/Bool`; None if it is not installed."""


@dataclass(frozen=True)
class TopicReading:
    """What is known about a condition at one moment."""

    holds: bool
    reason: str = ""  # why it does not hold, a clause
    failed: bool = False  # whether it can never hold


@dataclass(frozen=True)
class TopicCondition:
    """A condition on a field of the newest message of a topic."""

    topic: str  # name, relative to the namespace of the task server or absolute
    field: str  # path such as `pose.position.x` or `position[2]`
    timeout: float  # longest time to wait [s]
    type: str = ""  # expected type of the topic, or "" for that of its publishers
    equals: Value | None = None  # a number, a text, true or false
    above: float | None = None
    below: float | None = None

    @property
    def problem(self) -> str:
        """Why it can never be evaluated, whatever the topic is; or ""."""
        bounds = self.above is not None or self.below is not None
        if (self.equals is not None) == bounds:
            return "give either equals, or above and below"
        if self.above is not None and self.below is not None and self.above >= self.below:
            return f"no value is above {self.above:g} and below {self.below:g}"
        if not _PATH.fullmatch(self.field):
            return f"field '{self.field}' is not a path such as pose.position.x or position[2]"
        if self.type and not re.fullmatch(r"\w+/(msg/)?\w+", self.type):
            return f"type '{self.type}' is not a message type such as std_msgs/msg/Bool"
        return ""

    def resolved(self, type_name: str, types: MessageTypes) -> TopicCondition:
        """Return the condition for a topic of a type, with a constant replaced by its value.

        Raises:
            PlanError: The type is not the expected one or not installed, or it has no such field,
                or the field's value is of another kind.
        """
        if self.type and full_type(self.type) != full_type(type_name):
            raise PlanError(f"the type of {self.topic} is {type_name}, not {self.type}")
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

    def read(self, message: Any) -> TopicReading:
        """Evaluate a resolved condition on a message."""
        value = message
        for name, index in _parts(self.field):
            value = getattr(value, name)
            if index is not None:
                if index >= len(value):
                    return TopicReading(False, f"{name} has {len(value)} elements")
                value = value[index]
        value = value[0] if isinstance(value, bytes) else value  # a `byte`
        holds = (
            value == self.equals
            if self.equals is not None
            else (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )
        return TopicReading(bool(holds), "" if holds else f"it is {_text(value)}")

    def __str__(self) -> str:
        """Return the condition as a clause."""
        place = f"{self.field} of {self.topic}"
        if self.equals is not None:
            return f"{place} is {_text(self.equals)}"
        bounds = (("above", self.above), ("below", self.below))
        return f"{place} is {' and '.join(f'{w} {v:g}' for w, v in bounds if v is not None)}"


def full_type(name: str) -> str:
    """Return the name of a message type with `/msg/`."""
    return name if name.count("/") > 1 else name.replace("/", "/msg/")


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
